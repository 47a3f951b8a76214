/** What a worker does, whatever kind of worker it is. */
import { joined } from '../../bytes.ts'
import { Refusal } from '../../errors.ts'
import type { ByteSource, Inspection, Segment } from '../../formats/image.ts'
import { bytesOf, isWhole, lengthOf, sourceOf } from '../../formats/image.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { blobSource } from '../blob-source.ts'
import type { Codecs } from '../compress/codecs.ts'
import { inspect } from '../compress/inspect.ts'
import { jpegFactsOf } from '../compress/jpeg-facts.ts'
import type { Pixels } from '../compress/pixels.ts'
import { type Facts, planFor } from '../compress/plan.ts'
import { type MadePreview, previewOf, previewSize } from '../compress/preview.ts'
import {
  type Milestones,
  type Original,
  type Recompressed,
  recompress,
  recompressQuickly,
} from '../compress/recompress.ts'
import type { CompressRequest, Reply, Request } from './messages.ts'

/** Handles requests one after the other. */
export function createWork(codecs: Codecs, reply: (reply: Reply, transfer?: ArrayBuffer[]) => void) {
  return async (request: Request): Promise<void> => {
    if (request.kind === 'prepare') return codecs.load('jpeg').catch(() => {})
    try {
      const last = await compress(request, codecs, reply)
      reply(last, last.kind === 'recompressed' ? [last.bytes.buffer] : [])
    } catch (error) {
      reply(
        error instanceof Refusal
          ? { kind: 'refused', code: error.code, detail: error.detail }
          : { kind: 'failed', message: error instanceof Error ? error.message : String(error) },
      )
    }
  }
}

async function compress(
  request: Request & { kind: 'compress' },
  codecs: Codecs,
  reply: (reply: Reply) => void,
): Promise<Reply> {
  const { blob, mode, means, line } = request
  const start = performance.now()
  if (mode === 'auto' && means.webAssembly && blob.type === 'image/png') void fetchForPng(blob.size, codecs)
  const source = await sourceIn(blob)
  let inspection: Inspection
  try {
    inspection = await inspect(source)
  } catch (error) {
    const isForeign = error instanceof Refusal && error.code === 'unsupported-type'
    const converted = isForeign && request.convert ? await convert(request, codecs, reply) : null
    if (converted) return converted
    throw error
  }
  const { facts, profile } = await examine(source, inspection)
  reply({ kind: 'inspected', inspection })
  const plan = planFor(facts, mode, means)
  const previewing = previewsFor(request, inspection, codecs, reply)
  if (plan.kind === 'keep' || plan.kind === 'scrub') {
    const fallback = plan.kind === 'scrub' && plan.fallback
    if (!fallback) await previewing.ofFile(facts, profile).catch(() => {})
    return plan.kind === 'keep' ? { kind: 'kept' } : { kind: 'scrubbed', ...(fallback && { fallback }) }
  }
  const original: Original = {
    scrubbed: await wholeOf(source, inspection.segments),
    profile,
    orientation: (facts.jpeg ?? facts.png)?.orientation ?? 1,
    area: inspection.width * inspection.height,
  }
  try {
    const quick = line && (await recompressQuickly(plan, original, { line, start }, previewing))
    if (quick) return await lastWord(quick.result, inspection)
    await codecs.load(plan.kind === 'jpeg' || plan.mayBeWebp ? plan.kind : 'packing')
    reply({ kind: 'working' })
    const milestones: Milestones = {
      decoded: (milliseconds) => reply({ kind: 'decoded', milliseconds }),
      interim: async (interim) => {
        if (await isSound(interim, inspection)) reply({ kind: 'interim', ...interim })
      },
      ...previewing,
    }
    // Such a PNG is packed anew without being decoded.
    if (plan.kind === 'png' && !plan.mayBeWebp) await previewing.ofFile(facts, profile).catch(() => {})
    return await lastWord(await recompress(plan, original, codecs, milestones), inspection)
  } catch {
    return { kind: 'scrubbed', fallback: 'codec-error' }
  }
}

/** Lossless WebP takes about half the bytes of a PNG: the WebP of a larger one gets a preview. */
const LARGE_PNG_BYTES = 2 * PREVIEW_MAX_BYTES

/** Downloads what a PNG needs in parallel with its inspection: a worker starts no download while it encodes. */
function fetchForPng(bytes: number, codecs: Codecs): Promise<unknown> {
  return Promise.allSettled([
    codecs.load('png'),
    import('../../formats/webp/webp.ts'),
    bytes > LARGE_PNG_BYTES && codecs.load('preview'),
  ])
}

/** Throws if the result is not to be trusted. */
async function lastWord(result: Recompressed | null, inspection: Inspection): Promise<Reply> {
  if (result === null) return { kind: 'scrubbed' }
  if (!(await isSound(result, inspection))) throw new Error('the result is not the same picture')
  return { kind: 'recompressed', ...result }
}

/** In memory, if it is no larger than what is sent: a read of a file is a trip to another process. */
async function sourceIn(blob: Blob): Promise<ByteSource> {
  return blob.size <= DEFAULT_MAX_UPLOAD_BYTES
    ? sourceOf(new Uint8Array(await blob.arrayBuffer()))
    : blobSource(blob)
}

async function wholeOf(source: ByteSource, segments: Segment[]): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytesOf(source, segments)) pieces.push(piece)
  return joined(...pieces)
}

/** What the policy asks about a file that was inspected, and its colour profile, which a new file must carry on. */
async function examine(
  source: ByteSource,
  { type, width, height, animated }: Inspection,
): Promise<{ facts: Facts; profile: Uint8Array | null }> {
  const facts = { type, width, height, animated }
  if (type === 'image/jpeg') {
    const { facts: jpeg, profile } = await jpegFactsOf(source)
    return { facts: { ...facts, jpeg }, profile }
  }
  if (type === 'image/png' && !animated) {
    const { pngFactsOf } = await import('../compress/png-facts.ts')
    const { facts: png, profile } = await pngFactsOf(source)
    return { facts: { ...facts, png }, profile }
  }
  return { facts, profile: null }
}

/** `null` if nothing here decodes such a file. */
async function convert(
  { blob, means }: CompressRequest,
  codecs: Codecs,
  reply: (reply: Reply) => void,
): Promise<Reply | null> {
  const { foreignPicture } = await import('../compress/foreign.ts')
  const picture = await foreignPicture(blob, codecs, means)
  if (picture === null) return null
  const { type, width, height, hasLocation, losesHdr } = picture
  const inspection = { type, width, height, hasLocation, losesHdr, animated: false, segments: [] }
  reply({ kind: 'inspected', inspection })
  try {
    await codecs.load('jpeg')
    reply({ kind: 'working' })
    const result = await picture.convert({
      decoded: (milliseconds) => reply({ kind: 'decoded', milliseconds }),
      picture: previewsFor({ blob, means }, inspection, codecs, reply).picture,
    })
    if (!(await isSamePicture(result, inspection))) throw new Error('the result is not the same picture')
    return { kind: 'recompressed', ...result }
  } catch {
    return { kind: 'scrubbed', fallback: 'codec-error' }
  }
}

/** Makes previews of a file that deserves one. A picture without one is a picture all the same: nothing rejects but `ofFile`. */
function previewsFor(
  { blob, means }: Pick<CompressRequest, 'blob' | 'means'>,
  displayed: { width: number; height: number },
  codecs: Codecs,
  reply: (reply: Reply) => void,
) {
  async function offer(made: MadePreview | null): Promise<void> {
    if (made === null) return
    const { width, height } = await inspect(sourceOf(made.bytes))
    const expected = previewSize(displayed, Math.max(width, height))
    // The service would refuse the picture with another shape.
    if (width === expected.width && height === expected.height) reply({ kind: 'preview', ...made })
  }

  async function picture(pixels: Pixels, profile: Uint8Array | null): Promise<void> {
    if (blob.size > PREVIEW_MAX_BYTES)
      await previewOf(pixels, profile, codecs)
        .then(offer)
        .catch(() => {})
  }

  return {
    picture,
    preview: (made: MadePreview) => offer(made).catch(() => {}),
    /** For a file that is not decoded for anything else. */
    async ofFile(facts: Facts, profile: Uint8Array | null): Promise<void> {
      if (blob.size <= PREVIEW_MAX_BYTES || facts.animated || facts.type === 'image/gif') return
      const { decodedForPreview } = await import('../compress/preview-pixels.ts')
      const decoded = await decodedForPreview(blob, facts, profile, { codecs, means })
      if (decoded !== null) await picture(decoded.pixels, decoded.profile)
    },
  }
}

/** The universal guard: a codec's result is inspected like any stranger's file before it is trusted. */
async function isSound(result: Recompressed, original: Inspection): Promise<boolean> {
  return result.bytes.length < lengthOf(original.segments) && (await isSamePicture(result, original))
}

async function isSamePicture(
  { bytes, type }: Recompressed,
  original: { width: number; height: number },
): Promise<boolean> {
  const result = await inspect(sourceOf(bytes))
  return (
    result.type === type &&
    result.width === original.width &&
    result.height === original.height &&
    !result.animated &&
    isWhole(result.segments, bytes.length)
  )
}
