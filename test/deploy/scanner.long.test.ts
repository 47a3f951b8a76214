/** The scanner of deploy/scanner next to a server: listed images, learned images, and undecodable images. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { childrenOf } from '../support/attack/process-costs.ts'
import { apngOf } from '../support/chunks.ts'
import { folderOf } from '../support/folder.ts'
import { png } from '../support/images/tiny-images.ts'
import { end, listen } from '../support/listen.ts'
import { freePort } from '../support/processes/caches.ts'
import { launch, NODE, ROOT } from '../support/processes/process.ts'
import { serverFor } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, store } from '../support/upload.ts'

const SCANNER_TOKEN = 'a-scanner-of-more-than-24-characters'
const FOLDER = join(ROOT, 'deploy/scanner')

interface Pdq {
  pdq(luma: Uint8Array, width: number, height: number): { hashes: string[]; quality: number }
  wordsOf(hashes: string): Uint32Array
  distance(words: Uint32Array, at: number, others: Uint32Array, otherAt: number, max: number): number
}

const { pdq, ...words } = (await import(join(FOLDER, 'pdq.mjs'))) as Pdq

const distance = (a: string, b: string) => words.distance(words.wordsOf(a), 0, words.wordsOf(b), 0, 256)

/** Deterministic pseudo-random integers below `max`. */
function numbersFrom(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (state * 48_271) % 2_147_483_647
    return state % max
  }
}

/** Shapes unique to the seed. */
function pictureOf(seed: number) {
  const next = numbersFrom(seed)
  const shapes = Array.from(
    { length: 25 },
    () =>
      `<circle cx="${next(600)}" cy="${next(400)}" r="${20 + next(90)}" fill="rgb(${next(256)},${next(256)},${next(256)})"/>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="#888"/>${shapes.join('')}</svg>`
  return sharp(Buffer.from(svg))
}

const jpeg = (seed: number): Promise<Buffer> => pictureOf(seed).jpeg({ quality: 90 }).toBuffer()

/** Eight pictures, and so 64 hashes. */
async function film(): Promise<Buffer> {
  const frames = await Promise.all(Array.from({ length: 8 }, (_, frame) => jpeg(100 + frame)))
  return sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer()
}

/** The same picture, scaled, mirrored, with other colours and in another format. */
async function nearCopyOf(bytes: Buffer): Promise<Buffer> {
  const small = await sharp(bytes)
    .resize(417)
    .flop()
    .modulate({ brightness: 1.08, saturation: 0.8 })
    .toBuffer()
  return sharp(small).webp({ quality: 60 }).toBuffer()
}

/** The picture in grey, as the alpha channel of a white rectangle. */
async function drawnInAlpha(bytes: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
  const { width, height } = info
  return sharp({ create: { width, height, channels: 3, background: '#fff' } })
    .joinChannel(data, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer()
}

/** A PNG with correct checksums whose pixels are not a zlib stream. */
function undecodable(): Buffer {
  const bytes = Buffer.from(png(200, 100))
  const at = bytes.indexOf('IDAT')
  const end = at + 4 + bytes.readUInt32BE(at - 4)
  bytes.fill(0xff, at + 6, end)
  bytes.writeUInt32BE(crc32(bytes.subarray(at, end)), end)
  return bytes
}

async function hashOf(bytes: Buffer): Promise<string> {
  const { data, info } = await sharp(bytes)
    .resize(512, 512, { fit: 'fill' })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return pdq(data, info.width, info.height).hashes[0]!
}

/** Hashes computed by pdq/cpp of github.com/facebook/ThreatExchange for `rectanglesOf(index + 1, width, height)`. */
const REFERENCE: [number, number, string][] = [
  [64, 64, 'fbd80a0783cf3603120bd0f834b1d6d56af49b4eaf4bd19b48791b0d0507e5fa'],
  [600, 400, '7bac2385419db32c3861f81dee228c478a6dde4cf67cd94d46b3cdd2b32208e3'],
  [129, 511, '0e5e69b3c2976f2c691396db28744aa596db42ac62e594a94aa4e74e95b15a5b'],
  [300, 70, '42c5a431d05cb8c79dc64a7d2e3379a72abaa532f12aac76d549cbdc6734530c'],
  [512, 512, '3eab4c4cf03256a8542a9938ae1d98cefb390457eb551eb165aedfca11a922c7'],
  [9, 6, 'fc0c14af6cd8a3767c0c40eb9327ee5003f3bc8d92274372fc0c15af6cd8a376'],
  [128, 256, '3c96a3d15e94d3c58dc13c9fc1823cb9a95c88d31c92c2922d93f54b7f687a27'],
]

/** Only brightness values, so that no decoder is involved. */
function rectanglesOf(seed: number, width: number, height: number): Uint8Array {
  const next = numbersFrom(seed)
  const luma = new Uint8Array(width * height).fill(128)
  for (let index = 0; index < 60; index++) {
    const [left, top] = [next(width), next(height)]
    const [right, bottom] = [left + 1 + next(width >> 1), top + 1 + next(height >> 1)]
    const value = next(256)
    for (let y = top; y < Math.min(height, bottom); y++) {
      luma.fill(value, y * width + left, y * width + Math.min(width, right))
    }
  }
  return luma
}

it('computes the same hashes as PDQ’s reference code', () => {
  for (const [index, [width, height, hash]] of REFERENCE.entries()) {
    const found = pdq(rectanglesOf(index + 1, width, height), width, height)
    assert.deepEqual([found.hashes[0], found.quality], [hash, 100], `${width} × ${height}`)
  }
  assert.equal(pdq(rectanglesOf(8, 4, 40), 4, 40).quality, 0, 'too narrow')
})

it('distinguishes near copies from other pictures', async () => {
  const [one, other] = [await jpeg(1), await jpeg(2)]
  const copy = await sharp(one).resize(300).jpeg({ quality: 50 }).toBuffer()
  assert.ok(distance(await hashOf(one), await hashOf(copy)) <= 16)
  assert.ok(distance(await hashOf(one), await hashOf(other)) > 64)
  const { data, info } = await sharp(one).greyscale().raw().toBuffer({ resolveWithObject: true })
  const mirrored = await sharp(one).flop().greyscale().raw().toBuffer()
  const rotated = await sharp(one).rotate(90).greyscale().raw().toBuffer()
  const { hashes, quality } = pdq(data, info.width, info.height)
  assert.equal(hashes.length, 8)
  assert.ok(quality >= 50)
  const minDistance = (hash: string) => Math.min(...hashes.map((turn) => distance(hash, turn)))
  assert.ok(minDistance(pdq(mirrored, info.width, info.height).hashes[0]!) <= 31)
  assert.ok(minDistance(pdq(rotated, info.height, info.width).hashes[0]!) <= 31)
  assert.equal(pdq(new Uint8Array(10_000).fill(7), 100, 100).quality, 0)
})

it('blocks listed images, and near copies of images removed for a severe category', async (t) => {
  const folder = await folderOf(t)
  const adminAddress = `127.0.0.1:${await freePort()}`
  const server = await serverFor(t, { SCAN: 'before', OPERATOR_LISTEN: adminAddress, SCANNER_TOKEN })
  const listed = await jpeg(3)
  const list = join(folder, 'list')
  // As many as on a hotline's list: an image must be compared with all of them while it is claimed.
  const others = randomBytes(32e6).toString('hex').replaceAll(/.{64}/g, '$&\n')
  await writeFile(list, `# a list\n${others}${await hashOf(listed)} intimate\n`)
  const env = {
    PINHOLE: `http://${adminAddress}`,
    SCANNER_TOKEN,
    LISTS: list,
    STATE: join(folder, 'state'),
    PAUSE_MS: '50',
  }
  const scanner = launch(['scanner.mjs'], env, NODE, FOLDER)
  t.after(() => scanner.child.kill())
  const output = () => scanner.output.stdout + scanner.output.stderr
  const untilStatus = (id: string, status: number) =>
    until(
      `${id} answers ${status}: ${output()}`,
      async () => (await fetchRaw(server.url, id)).status === status,
    )

  const [bad, near, other, broken] = [await jpeg(4), await nearCopyOf(listed), await film(), undecodable()]
  const animated = apngOf([png(200, 100), png(200, 100)])
  const [first, copy, fine, ...undecoded] = [
    await store(server.url, bad),
    await store(server.url, near),
    await store(server.url, other),
    await store(server.url, broken),
    await store(server.url, animated),
  ]
  await untilStatus(first.id, 200)
  await untilStatus(copy.id, 410)
  await untilStatus(fine.id, 200)
  await until(`what can't be decoded is held: ${output()}`, async () => {
    const { stdout } = await server.operator(['queue', '--held'])
    return undecoded.every(({ id }) => stdout.includes(id))
  })
  await server.operator(['remove', first.id, '--reason', 'seen', '--rule', 'child-abuse'])
  await until('the scanner has learned the removal', () =>
    output().includes(`learned from the removal of ${first.id}`),
  )
  // A damaged decoder may die after its answer.
  for (const decoder of childrenOf(scanner.child.pid!) ?? []) process.kill(decoder, 'SIGKILL')
  const again = await drawnInAlpha(await nearCopyOf(bad))
  await untilStatus((await store(server.url, again)).id, 410)
  assert.equal((await post(server.url, again)).json().error, 'blocked-image', 'its bytes are blocked too')
  assert.doesNotMatch(output(), new RegExp(`removal of ${copy.id}`), 'it learns only what people removed')
})

it('repeats a download that broke off', async (t) => {
  const bytes = await jpeg(5)
  const verdicts: unknown[] = []
  let downloads = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const scan = { id: 'AAAAAAAAAAA', claim: '1', size: bytes.length, bytes: '/bytes', preview: null }
    if (request.url === '/bytes') {
      response.writeHead(200, { 'Content-Length': bytes.length })
      if (++downloads > 1) response.end(bytes)
      else response.write(bytes.subarray(0, 100), () => response.destroy())
    } else if (request.url === '/scans/claim') {
      response.end(JSON.stringify({ scans: verdicts.length === 0 ? [scan] : [] }))
    } else if (request.url?.startsWith('/scans/removals')) {
      response.end(JSON.stringify({ removals: [], until: null }))
    } else {
      verdicts.push(JSON.parse(body).verdict)
      response.end()
    }
  })
  const PINHOLE = `http://127.0.0.1:${await listen(server)}`
  t.after(() => end(server))
  const env = { PINHOLE, SCANNER_TOKEN, STATE: join(await folderOf(t), 'state'), PAUSE_MS: '50' }
  const { child, output } = launch(['scanner.mjs'], env, NODE, FOLDER)
  t.after(() => child.kill())
  await until(`there is a verdict: ${output.stderr}`, () => verdicts.length > 0)
  assert.deepEqual(verdicts, ['clean'])
})
