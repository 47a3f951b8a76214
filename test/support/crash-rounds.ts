/**
 * Repeatedly kills a real server with SIGKILL under a load of uploads and deletions, and compares every response it gave with
 * the state after the restart.
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

/** What the responses say about an image. `deleting`: a deletion was sent, but no response received. */
interface KnownImage {
  key: string
  sha256: string
  /** Digest of the preview that was sent with the image. */
  previewSha256?: string | undefined
  state: 'stored' | 'deleting' | 'deleted'
  /** Changed since the last check. */
  isChanged: boolean
}

export interface CrashFigures {
  rounds: number
  uploads: number
  deletions: number
  /** Uploads that were in flight at a kill. */
  cut: number
  /** Complete images of uploads that were never acknowledged. */
  unacknowledged: number
}

const CLIENTS = 8
const UPLOADS_PER_DAY = 1_000_000
/** Minimum number of acknowledgements per round. */
const MIN_ANSWERS = 10
/** Share of images with a preview. */
const WITH_PREVIEW = 0.5
/** Number of unchanged images checked per round. After the last round, all are. */
const SAMPLE = 50

export async function crashRounds(options: {
  rounds: number
  env?: Record<string, string>
  onRound?: (round: number, figures: CrashFigures) => void
}): Promise<CrashFigures> {
  const server = await startServer({
    UPLOADS_PER_DAY: String(UPLOADS_PER_DAY),
    LOG_LEVEL: 'warn',
    ...options.env,
  })
  const images = new Map<string, KnownImage>()
  const unacknowledged = new Set<string>()
  const day = new Date().getUTCDate()
  const figures: CrashFigures = { rounds: 0, uploads: 0, deletions: 0, cut: 0, unacknowledged: 0 }
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const load = startLoad(server, images, figures)
      const enough = figures.uploads + figures.deletions + MIN_ANSWERS
      await sleep(20 + Math.random() * 300)
      // On a busy machine there may be few responses in that time, and a round without any would prove nothing.
      await until('enough requests are answered', () => figures.uploads + figures.deletions >= enough)
      const killed = server.kill()
      await load.ended()
      await killed
      await server.restart()
      await checkImages(server, images, round === options.rounds)
      await checkUnacknowledged(server, images, unacknowledged)
      figures.rounds = round
      figures.unacknowledged = unacknowledged.size
      assert.ok(unacknowledged.size <= figures.cut, 'no more images than uploads')
      if (new Date().getUTCDate() === day) await checkQuota(server, figures)
      options.onRound?.(round, figures)
    }
    return figures
  } finally {
    await server.stop()
  }
}

/** Clients that run until the server is gone. */
function startLoad(server: RunningServer, images: Map<string, KnownImage>, figures: CrashFigures) {
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
    images.set(id, { key, sha256: sha256Of(bytes), previewSha256, state: 'stored', isChanged: true })
    figures.uploads += 1
  }
  async function deleteOne(): Promise<void> {
    const image = pickStored(images)
    if (!image) return
    image.state = 'deleting'
    image.isChanged = true
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
        // The server was killed.
        return
      }
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  // Awaited after the kill. A failure before that must not be an unhandled rejection.
  clients.catch(() => {})
  return { ended: () => clients }
}

/** Mostly small, some too large for the server to keep in memory. Unit: bytes. */
function sizeOf(): number {
  return Math.floor(100 + (Math.random() < 0.7 ? Math.random() * 20_000 : Math.random() * 1_500_000))
}

function pickStored(images: Map<string, KnownImage>): KnownImage | undefined {
  const stored = [...images.values()].filter(({ state }) => state === 'stored')
  return stored[Math.floor(Math.random() * stored.length)]
}

async function checkImages(
  server: RunningServer,
  images: Map<string, KnownImage>,
  all: boolean,
): Promise<void> {
  const files = await filesIn(server.dataDir)
  assert.deepEqual(files.others, [], 'no temporary file survives a restart')
  const share = SAMPLE / images.size
  const chosen = [...images].filter(([, { isChanged }]) => all || isChanged || Math.random() < share)
  for (const [id, known] of chosen) {
    const answer = await fetchRaw(server.url, id)
    if (known.previewSha256 !== undefined) {
      const preview = await request(server.url, 'GET', `/preview/${id}`)
      assert.equal(preview.status, answer.status, `${id} and its preview exist only together`)
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
      // The deletion was never answered, so either outcome is fine, but not a damaged image.
      if (answer.status !== 404) checkWhole(id, answer)
      known.state = answer.status === 404 ? 'deleted' : 'stored'
    }
    known.isChanged = false
  }
}

/** Checks images whose upload was never acknowledged, and adds them to `unacknowledged`. */
async function checkUnacknowledged(
  server: RunningServer,
  images: Map<string, KnownImage>,
  unacknowledged: Set<string>,
): Promise<void> {
  const files = await filesIn(server.dataDir)
  for (const id of files.images.keys()) {
    if (images.has(id) || unacknowledged.has(id)) continue
    checkWhole(id, await fetchRaw(server.url, id))
    await checkPreview(server, id)
    unacknowledged.add(id)
  }
}

/** The same for the preview: either there is one, or the preview redirects to the image. */
async function checkPreview(server: RunningServer, id: string): Promise<void> {
  const { status, headers, body } = await request(server.url, 'GET', `/preview/${id}`)
  if (status !== 307)
    assert.equal(headers.get('ETag'), `"${sha256Of(body)}"`, `the preview of ${id} is whole`)
}

/** An image whose upload was never acknowledged is either complete or absent. */
function checkWhole(id: string, answer: Answer): void {
  assert.equal(answer.status, 200, id)
  assert.equal(answer.headers.get('ETag'), `"${sha256Of(answer.body)}"`, `${id} is whole`)
  assert.match(answer.headers.get('Content-Type') ?? '', /^image\/(gif|jpeg)$/)
}

/** Every acknowledged upload counts towards the quota; a crash adds at most the uploads in flight. */
async function checkQuota(server: RunningServer, figures: CrashFigures): Promise<void> {
  const refused = await post(server.url, Buffer.from('no image'))
  assert.equal(refused.status, 415)
  const used = UPLOADS_PER_DAY - Number(refused.headers.get('X-RateLimit-Remaining'))
  assert.ok(used >= figures.uploads, `${used} counted for ${figures.uploads} uploads`)
  assert.ok(used <= figures.uploads + figures.cut, `${used} counted for ${figures.uploads} + ${figures.cut}`)
}
