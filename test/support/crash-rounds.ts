/**
 * Kills the real server with -9 under a load of uploads and deletions, again and again, and holds every answer it
 * gave against what is there after the restart.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesIn } from './files.ts'
import { type Answer, request } from './http.ts'
import { filledPreviewed } from './images/previewed.ts'
import { gif } from './images/tiny-images.ts'
import { type RunningServer, startServer } from './processes/server.ts'
import { sha256Of } from './sha256.ts'
import { until } from './until.ts'
import { fetchRaw, post, remove } from './upload.ts'

/** What is known of an image from the answers alone. `asked`: a deletion was sent, and its answer never came. */
interface Known {
  key: string
  sha256: string
  /** The digest of the preview that was sent with it. */
  previewSha256?: string | undefined
  state: 'stored' | 'asked' | 'deleted'
  /** It changed since it was last looked at. */
  isNews: boolean
}

export interface CrashFigures {
  rounds: number
  uploads: number
  deletions: number
  /** Uploads that were under way at a kill. */
  cut: number
  /** Whole images of uploads that were never acknowledged. */
  unacknowledged: number
}

const CLIENTS = 8
const PLACES = 1_000_000
/** Acknowledgements in each round, at least. */
const MIN_ANSWERS = 10
/** The share of images that have one. */
const WITH_PREVIEW = 0.5
/** Untouched images that are checked in each round; all of them after the last. */
const SAMPLE = 50

export async function crashRounds(options: {
  rounds: number
  env?: Record<string, string>
  onRound?: (round: number, figures: CrashFigures) => void
}): Promise<CrashFigures> {
  const server = await startServer({
    UPLOADS_PER_DAY: String(PLACES),
    LOG_LEVEL: 'warn',
    ...options.env,
  })
  const images = new Map<string, Known>()
  const strangers = new Set<string>()
  const day = new Date().getUTCDate()
  const figures: CrashFigures = { rounds: 0, uploads: 0, deletions: 0, cut: 0, unacknowledged: 0 }
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const load = startLoad(server, images, figures)
      const enough = figures.uploads + figures.deletions + MIN_ANSWERS
      await sleep(20 + Math.random() * 300)
      // A busy machine answers little in that time, and a round without answers shows nothing.
      await until('some are answered', () => figures.uploads + figures.deletions >= enough)
      const killed = server.kill()
      await load.ended()
      await killed
      await server.restart()
      await checkImages(server, images, round === options.rounds)
      await checkStrangers(server, images, strangers)
      figures.rounds = round
      figures.unacknowledged = strangers.size
      assert.ok(strangers.size <= figures.cut, 'no image comes from nowhere')
      if (new Date().getUTCDate() === day) await checkQuota(server, figures)
      options.onRound?.(round, figures)
    }
    return figures
  } finally {
    await server.stop()
  }
}

/** Clients that go on until the server is gone. */
function startLoad(server: RunningServer, images: Map<string, Known>, figures: CrashFigures) {
  const { url } = server
  async function upload(): Promise<void> {
    const previewed = Math.random() < WITH_PREVIEW ? filledPreviewed(sizeOf()) : null
    const bytes = previewed?.image ?? gif({ size: sizeOf() })
    figures.cut += 1
    const answer = await post(url, previewed?.file ?? bytes)
    figures.cut -= 1
    assert.equal(answer.status, 201, answer.text)
    const { id, key } = answer.json()
    const previewSha256 = previewed ? sha256Of(previewed.preview) : undefined
    images.set(id, { key, sha256: sha256Of(bytes), previewSha256, state: 'stored', isNews: true })
    figures.uploads += 1
  }
  async function deleteOne(): Promise<void> {
    const image = pickStored(images)
    if (!image) return
    image.state = 'asked'
    image.isNews = true
    const answer = await remove(url, image.key)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.json(), { success: true })
    image.state = 'deleted'
    figures.deletions += 1
  }
  async function client(): Promise<void> {
    for (;;) {
      try {
        await (Math.random() < 0.55 ? upload() : deleteOne())
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        // The server is gone in the middle of it.
        return
      }
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  // Awaited after the kill; a failure before it must not count as unhandled.
  clients.catch(() => {})
  return { ended: () => clients }
}

/** Mostly small, some beyond what a server would hold in memory. Unit: bytes. */
function sizeOf(): number {
  return Math.floor(100 + (Math.random() < 0.7 ? Math.random() * 20_000 : Math.random() * 1_500_000))
}

function pickStored(images: Map<string, Known>): Known | undefined {
  const stored = [...images.values()].filter(({ state }) => state === 'stored')
  return stored[Math.floor(Math.random() * stored.length)]
}

async function checkImages(server: RunningServer, images: Map<string, Known>, all: boolean): Promise<void> {
  const files = await filesIn(server.dataDir)
  assert.deepEqual(files.others, [], 'no temporary file outlives a restart')
  const share = SAMPLE / images.size
  const chosen = [...images].filter(([, { isNews }]) => all || isNews || Math.random() < share)
  for (const [id, known] of chosen) {
    const answer = await fetchRaw(server.url, id)
    if (known.previewSha256 !== undefined) {
      const preview = await request(server.url, 'GET', `/preview/${id}`)
      assert.equal(preview.status, answer.status, `${id} and its preview are there or gone together`)
      if (preview.status === 200)
        assert.equal(sha256Of(preview.body), known.previewSha256, `the preview of ${id} is byte-exact`)
    }
    if (known.state === 'stored') {
      assert.equal(answer.status, 200, `${id} was acknowledged`)
      assert.equal(sha256Of(answer.body), known.sha256, `${id} is byte-exact`)
    } else if (known.state === 'deleted') {
      assert.equal(answer.status, 404, `the deletion of ${id} was acknowledged`)
      assert.ok(!files.images.has(id), `the bytes of ${id} are gone`)
    } else {
      // Never answered: either outcome is right, half of one is not.
      if (answer.status !== 404) checkWhole(id, answer)
      known.state = answer.status === 404 ? 'deleted' : 'stored'
    }
    known.isNews = false
  }
}

/** Adds images that nobody was told of to `strangers`. */
async function checkStrangers(
  server: RunningServer,
  images: Map<string, Known>,
  strangers: Set<string>,
): Promise<void> {
  const files = await filesIn(server.dataDir)
  for (const id of files.images.keys()) {
    if (images.has(id) || strangers.has(id)) continue
    checkWhole(id, await fetchRaw(server.url, id))
    await checkPreview(server, id)
    strangers.add(id)
  }
}

/** The same of its preview: a JPEG of the load may have one, or leads to itself. */
async function checkPreview(server: RunningServer, id: string): Promise<void> {
  const { status, headers, body } = await request(server.url, 'GET', `/preview/${id}`)
  if (status !== 307)
    assert.equal(headers.get('ETag'), `"${sha256Of(body)}"`, `the preview of ${id} is whole`)
}

/** An image that nobody was told of is whole, or not there. */
function checkWhole(id: string, answer: Answer): void {
  assert.equal(answer.status, 200, id)
  assert.equal(answer.headers.get('ETag'), `"${sha256Of(answer.body)}"`, `${id} is whole`)
  assert.match(answer.headers.get('Content-Type') ?? '', /^image\/(gif|jpeg)$/)
}

/** Every acknowledged upload counts; a crash costs at most what was under way. */
async function checkQuota(server: RunningServer, figures: CrashFigures): Promise<void> {
  const refused = await post(server.url, Buffer.from('no image'))
  assert.equal(refused.status, 415)
  const used = PLACES - Number(refused.headers.get('X-RateLimit-Remaining'))
  assert.ok(used >= figures.uploads, `${used} places for ${figures.uploads} uploads`)
  assert.ok(used <= figures.uploads + figures.cut, `${used} places for ${figures.uploads} + ${figures.cut}`)
}
