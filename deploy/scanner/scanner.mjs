/**
 * A scanner for Pinhole. Fetches pending images, compares their perceptual hashes with lists, and reports verdicts:
 *
 *     PINHOLE=http://127.0.0.1:3001 SCANNER_TOKEN=… node scanner.mjs
 *
 * README.md documents its variables. Remembers hashes of images, and blocks near copies of those removed for a severe category.
 */
import { fork } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { distance, wordsOf } from './pdq.mjs'

const { PINHOLE, SCANNER_TOKEN, LISTS = '', STATE = './state' } = process.env
const DISTANCE = Number(process.env.DISTANCE ?? 31)
const REMEMBERED = Number(process.env.REMEMBERED ?? 200_000)
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 1000)

/** A picture that takes longer to decode is held. */
const DECODE_MS = 20_000
const ANSWER_MS = 30_000
/** Above the server's own limit. */
const MAX_BYTES = 64 * 2 ** 20
/** How often to learn from removals. */
const LEARN_MS = 10_000

if (!PINHOLE || !SCANNER_TOKEN) {
  console.error('PINHOLE (the address of the admin server) and SCANNER_TOKEN must be set')
  process.exit(2)
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function call(method, path, given) {
  const answer = await fetch(new URL(path, PINHOLE), {
    method,
    headers: { Authorization: `Bearer ${SCANNER_TOKEN}` },
    ...(given && { body: JSON.stringify(given) }),
    signal: AbortSignal.timeout(ANSWER_MS),
    redirect: 'error',
  })
  // The claim has expired, or the picture is gone.
  if (answer.status === 409 || answer.status === 404) {
    await answer.body?.cancel()
    return null
  }
  if (!answer.ok) throw new Error(`${method} ${path.split('?')[0]}: ${answer.status}`)
  return answer
}

/** The decoder process; replaced if it dies, which it may do between two pictures. */
let decoder = null
let onDeath = () => {}

function startDecoder() {
  const child = fork(fileURLToPath(new URL('decode.mjs', import.meta.url)), { serialization: 'advanced' })
  child.once('exit', () => {
    decoder = null
    onDeath(new Error('the decoder died'))
  })
  return child
}

async function hashesOf(bytes) {
  decoder ??= startDecoder()
  const child = decoder
  const timer = setTimeout(() => child.kill('SIGKILL'), DECODE_MS)
  try {
    const found = await new Promise((resolve, reject) => {
      onDeath = reject
      child.once('message', resolve)
      // If it can't be sent, the process is about to exit.
      child.send(bytes, () => {})
    })
    if (found.error !== undefined) throw new Error(found.error)
    return found
  } finally {
    clearTimeout(timer)
  }
}

/** Known hashes: the words of each, and its category. Not a map by hash: real lists have millions. */
const known = []

/** Hashes in hex that were learned from removals. */
const learned = new Set()

/** List format: lines with a hash in hex and, after a space, a category. Returns the hashes. */
function learn(text) {
  const [hashes, categories] = [[], []]
  for (const line of text.split('\n')) {
    const [, hash, category = 'child-abuse'] = /^([0-9a-f]{64})(?:[ ,]+([a-z-]+))?/i.exec(line.trim()) ?? []
    if (hash === undefined) continue
    hashes.push(hash)
    categories.push(category)
  }
  known.push({ words: wordsOf(hashes.join('')), categories })
  return hashes
}

function learnFromRemoval(text) {
  for (const hash of learn(text)) learned.add(hash)
}

/** Hashes by image ID, oldest first. */
const seen = new Map()
const files = { seen: join(STATE, 'seen'), learned: join(STATE, 'learned') }
let lines = 0

function load() {
  mkdirSync(STATE, { recursive: true, mode: 0o700 })
  for (const file of LISTS.split(',').filter(Boolean)) {
    if (!existsSync(file)) {
      console.error(`LISTS names ${file}, which does not exist`)
      process.exit(2)
    }
    learn(readFileSync(file, 'utf8'))
  }
  if (existsSync(files.learned)) learnFromRemoval(readFileSync(files.learned, 'utf8'))
  if (!existsSync(files.seen)) return
  for (const line of readFileSync(files.seen, 'utf8').split('\n')) {
    const [id, ...hashes] = line.split(' ')
    if (hashes.length > 0) seen.set(id, hashes)
    lines++
  }
}

function remember(id, hashes) {
  if (hashes.length === 0) return
  seen.set(id, hashes)
  if (seen.size > REMEMBERED) seen.delete(seen.keys().next().value)
  appendFileSync(files.seen, `${id} ${hashes.join(' ')}\n`, { mode: 0o600 })
  if (++lines < 2 * REMEMBERED) return
  const content = [...seen].map(([id, hashes]) => `${id} ${hashes.join(' ')}\n`).join('')
  writeFileSync(`${files.seen}.new`, content, { mode: 0o600 })
  renameSync(`${files.seen}.new`, files.seen)
  lines = seen.size
}

/** How far the audit log was searched for removals. */
let searchedUntil = null

/** Adds images that the operator removed for a severe category to the known hashes, so that near copies are blocked. */
async function learnRemovals() {
  // Servers' clocks may differ by a minute, so a late entry may have an earlier time.
  let since = searchedUntil && new Date(Date.parse(searchedUntil) - 2 * 60_000).toISOString()
  for (;;) {
    const query = since === null ? '' : `?since=${since}`
    const { removals, until } = await (await call('GET', `/scans/removals${query}`)).json()
    learnFrom(removals)
    if (until === since) return
    since = until
    if (searchedUntil === null || until > searchedUntil) searchedUntil = until
  }
}

function learnFrom(removals) {
  for (const { id, category } of removals) {
    const own = (seen.get(id) ?? []).filter((hash) => !learned.has(hash))
    if (own.length === 0) continue
    const text = own.map((hash) => `${hash} ${category}\n`).join('')
    appendFileSync(files.learned, text, { mode: 0o600 })
    learnFromRemoval(text)
    console.log(`learned from the removal of ${id}`)
  }
}

/** The closest known hash within the distance, over all frames and orientations. */
function match(hashes) {
  let nearest = null
  const own = wordsOf(hashes.join(''))
  for (const { words, categories } of known) {
    for (let at = 0; at < own.length; at += 8) {
      for (let other = 0; other < words.length; other += 8) {
        const max = nearest === null ? DISTANCE : nearest.bits - 1
        const bits = distance(own, at, words, other, max)
        if (bits <= max) nearest = { bits, category: categories[other / 8] }
      }
    }
  }
  return nearest
}

async function verdictOn(scan) {
  const own = []
  const turned = []
  for (const part of [scan, ...(scan.preview === null ? [] : [scan.preview])]) {
    if (part.size > MAX_BYTES) return undecodable('too large')
    const answer = await call('GET', part.bytes)
    if (answer === null) return null
    // A broken download says nothing about the picture.
    const bytes = Buffer.from(await answer.arrayBuffer())
    try {
      const found = await hashesOf(bytes)
      own.push(...found.own)
      turned.push(...found.turned)
    } catch (error) {
      return undecodable(error.message)
    }
  }
  const found = match(turned)
  if (found === null) {
    // Not if it matches: learning from its removal, too, would lead step by step to pictures that are no copies.
    remember(scan.id, own)
    return { verdict: 'clean' }
  }
  return { verdict: 'block', category: found.category, labels: [{ name: 'pdq bits', score: found.bits }] }
}

function undecodable(why) {
  return { verdict: 'hold', labels: [{ name: `not decoded: ${why}` }] }
}

async function scanNext() {
  const { scans } = await (await call('POST', '/scans/claim', { limit: 1 })).json()
  for (const scan of scans) {
    const verdict = await verdictOn(scan)
    if (verdict !== null) await call('POST', `/scans/${scan.id}`, { claim: scan.claim, ...verdict })
    if (verdict !== null && verdict.verdict !== 'clean') console.log(`${scan.id}: ${JSON.stringify(verdict)}`)
  }
  return scans.length > 0
}

load()
console.log(
  `scanning for ${PINHOLE}: ${known.reduce((sum, { categories }) => sum + categories.length, 0)} known hashes`,
)
for (let learnedAt = Number.NEGATIVE_INFINITY, failures = 0; ; ) {
  try {
    if (performance.now() - learnedAt > LEARN_MS) {
      await learnRemovals()
      learnedAt = performance.now()
    }
    if (!(await scanNext())) await sleep(PAUSE_MS)
    failures = 0
  } catch (error) {
    console.error(error.message)
    await sleep(Math.min(60_000, PAUSE_MS * 2 ** failures++))
  }
}
