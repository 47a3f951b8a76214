/** The worker's side of the protocol, the same in browsers and Node. */
import { Refusal } from '../../errors.ts'
import {
  type ByteSource,
  type Inspection,
  isWhole,
  lengthOf,
  memorySource,
  readAll,
} from '../../formats/image.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { blobSource } from '../blob-source.ts'
import type { Codecs } from '../compress/codecs.ts'
import { inspect } from '../compress/inspect.ts'
import { jpegFactsOf } from '../compress/jpeg-facts.ts'
import { LoadFault, loaded } from '../compress/load-fault.ts'
import type { Pixels } from '../compress/pixels.ts'
import { type Facts, planFor } from '../compress/plan.ts'
import { previewOf, previewSize } from '../compress/preview.ts'
import type { MadePreview } from '../compress/preview-jpeg.ts'
import {
  type Milestones,
  type Original,
  type Recompressed,
  recompress,
  recompressQuickly,
} from '../compress/recompress.ts'
import type { CompressRequest, Reply, Request } from './messages.ts'

/** Handles one request at a time. */
export function createRequestHandler(
  codecs: Codecs,
  reply: (reply: Reply, transfer?: ArrayBuffer[]) => void,
) {
  return async (request: Request): Promise<void> => {
    if (request.kind === 'prepare') {
      await (request.codecs === 'png' ? prepareForPng(codecs) : codecs.load('jpeg').catch(() => {}))
      return
    }
    try {
      const finalReply = await compress(request, codecs, reply)
      reply(finalReply, finalReply.kind === 'recompressed' ? [finalReply.bytes.buffer] : [])
    } catch (error) {
      if (error instanceof Refusal) return reply({ kind: 'refused', code: error.code, detail: error.detail })
      const isLoadFault = error instanceof LoadFault
      const subject = isLoadFault ? "a part of the client can't be loaded" : "the file can't be read"
      reply({
        kind: 'failed',
        message: `${subject}: ${error instanceof Error ? error.message : error}`,
        isLoadFault,
      })
    }
  }
}

async function compress(
  request: Request & { kind: 'compress' },
  codecs: Codecs,
  reply: (reply: Reply) => void,
): Promise<Reply> {
  const { blob, mode, capabilities, line } = request
  const start = performance.now()
  if (mode === 'auto' && capabilities.webAssembly && blob.type === 'image/png')
    void prefetchForPng(codecs, 'png')
  const source = await openSource(blob)
  let inspection: Inspection
  try {
    inspection = await inspect(source)
  } catch (error) {
    const isForeign = error instanceof Refusal && error.code === 'unsupported-type'
    const converted = isForeign && request.convert ? await convert(request, codecs, reply) : null
    if (converted) return converted
    throw error
  }
  const { facts, profile, scrubbed } = await examine(source, inspection)
  reply({ kind: 'inspected', inspection })
  const plan = planFor(facts, mode, capabilities)
  const previews = previewMaker(request, inspection, codecs, reply)
  if (plan.kind === 'keep' || plan.kind === 'scrub') {
    const fallback = plan.kind === 'scrub' && plan.fallback
    if (!fallback) await previews.ofFile(facts, profile).catch(() => {})
    return plan.kind === 'keep' ? { kind: 'kept' } : { kind: 'scrubbed', ...(fallback && { fallback }) }
  }
  const original: Original = {
    scrubbed: scrubbed ?? (await readAll(source, inspection.segments)),
    profile,
    orientation: (facts.jpeg ?? facts.png)?.orientation ?? 1,
    area: inspection.width * inspection.height,
  }
  try {
    const quick = await recompressQuickly(plan, original, { line, start }, previews)
    if (quick) return await checkedReply(quick.result, inspection)
    await codecs.load(plan.kind === 'jpeg' || plan.mayBeWebp ? plan.kind : 'packing')
    reply({ kind: 'working' })
    const milestones: Milestones = {
      decoded: (milliseconds) => reply({ kind: 'decoded', milliseconds }),
      interim: async (interim) => {
        if (await isSound(interim, inspection)) reply({ kind: 'interim', ...interim })
      },
      ...previews,
    }
    // A PNG that stays PNG is repacked without being decoded, so its preview needs its own decode.
    if (plan.kind === 'png' && !plan.mayBeWebp) await previews.ofFile(facts, profile).catch(() => {})
    return await checkedReply(
      await recompress(plan, original, codecs, milestones, { line, start }),
      inspection,
    )
  } catch {
    return { kind: 'scrubbed', fallback: 'codec-error' }
  }
}

/** A device that takes longer for the decoder would still be compiling the encoder when the picture is chosen. */
const FAST_MS = 300

/** Loads codecs for a PNG while a picture is being chosen. On a slow device, most of it waits until it is a PNG: photographs need none. */
async function prepareForPng(codecs: Codecs): Promise<void> {
  const start = performance.now()
  await prefetchForPng(codecs, 'png-decoder')
  if (performance.now() - start < FAST_MS) await codecs.load('png').catch(() => {})
}

/** Downloads codecs for a PNG in parallel with its inspection, since a worker can't start downloads while it encodes. */
function prefetchForPng(codecs: Codecs, task: 'png' | 'png-decoder'): Promise<unknown> {
  return Promise.allSettled([
    import('../../formats/png/png.ts'),
    import('../compress/png-facts.ts'),
    codecs.load(task),
    import('../../formats/webp/webp.ts'),
  ])
}

/** Throws if the result fails verification. */
async function checkedReply(result: Recompressed | null, inspection: Inspection): Promise<Reply> {
  if (result === null) return { kind: 'scrubbed' }
  if (!(await isSound(result, inspection))) throw new Error('the result is not the same image')
  return { kind: 'recompressed', ...result }
}

/** Loads a file of up to the upload limit into memory, because in browsers each read of a file is a trip to another process. */
async function openSource(blob: Blob): Promise<ByteSource> {
  return blob.size <= DEFAULT_MAX_UPLOAD_BYTES
    ? memorySource(new Uint8Array(await blob.arrayBuffer()))
    : blobSource(blob)
}

/**
 * Facts that the policy needs about an inspected file, and the colour profile that its replacement must keep. `scrubbed`: the
 * file without its metadata, if that was read for the facts.
 */
async function examine(
  source: ByteSource,
  { type, width, height, animated, segments }: Inspection,
): Promise<{ facts: Facts; profile: Uint8Array | null; scrubbed?: Uint8Array<ArrayBuffer> }> {
  const facts = { type, width, height, animated }
  if (type === 'image/jpeg') {
    const { facts: jpeg, profile } = await jpegFactsOf(source)
    return { facts: { ...facts, jpeg }, profile }
  }
  if (type === 'image/png' && !animated) {
    const { pngFactsOf } = await loaded(import('../compress/png-facts.ts'))
    const scrubbed = await readAll(source, segments)
    const { facts: png, profile } = await pngFactsOf(memorySource(scrubbed))
    return { facts: { ...facts, png }, profile, scrubbed }
  }
  return { facts, profile: null }
}

/** Converts a foreign type. `null` if no decoder here supports it. */
async function convert(
  { blob, capabilities }: CompressRequest,
  codecs: Codecs,
  reply: (reply: Reply) => void,
): Promise<Reply | null> {
  const { openForeign } = await loaded(import('../compress/foreign.ts'))
  const image = await openForeign(blob, codecs, capabilities)
  if (image === null) return null
  const { type, width, height, hasLocation, losesHdr } = image
  const inspection = { type, width, height, hasLocation, losesHdr, animated: false, segments: [] }
  reply({ kind: 'inspected', inspection })
  try {
    await codecs.load('jpeg')
    reply({ kind: 'working' })
    const result = await image.convert({
      decoded: (milliseconds) => reply({ kind: 'decoded', milliseconds }),
      previewSource: previewMaker({ blob, capabilities }, inspection, codecs, reply).previewSource,
    })
    if (!(await isSameImage(result, inspection))) throw new Error('the result is not the same image')
    return { kind: 'recompressed', ...result }
  } catch (error) {
    // There is nothing to send instead.
    if (error instanceof LoadFault) throw error
    return { kind: 'scrubbed', fallback: 'codec-error' }
  }
}

/** Makes previews for files large enough to need one. Previews are optional, so failures are ignored; only `ofFile` rejects. */
function previewMaker(
  { blob, capabilities }: Pick<CompressRequest, 'blob' | 'capabilities'>,
  displayed: { width: number; height: number },
  codecs: Codecs,
  reply: (reply: Reply) => void,
) {
  async function sendPreview(made: MadePreview | null): Promise<void> {
    if (made === null) return
    const { width, height } = await inspect(memorySource(made.bytes))
    const expected = previewSize(displayed, Math.max(width, height))
    // The service refuses an image whose preview has another aspect ratio.
    if (width === expected.width && height === expected.height) reply({ kind: 'preview', ...made })
  }

  async function previewSource(pixels: Pixels, profile: Uint8Array | null): Promise<void> {
    if (blob.size > PREVIEW_MAX_BYTES)
      await previewOf(pixels, profile, codecs)
        .then(sendPreview)
        .catch(() => {})
  }

  return {
    previewSource,
    preview: (made: MadePreview) => sendPreview(made).catch(() => {}),
    /** For a file that is not decoded otherwise. */
    async ofFile(facts: Facts, profile: Uint8Array | null): Promise<void> {
      if (blob.size <= PREVIEW_MAX_BYTES || facts.animated || facts.type === 'image/gif') return
      const { decodedForPreview } = await import('../compress/preview-pixels.ts')
      const decoded = await decodedForPreview(blob, facts, profile, { codecs, capabilities })
      if (decoded !== null) await previewSource(decoded.pixels, decoded.profile)
    },
  }
}

/** Verifies a codec's result by inspecting it like any untrusted file. */
async function isSound(result: Recompressed, original: Inspection): Promise<boolean> {
  return result.bytes.length < lengthOf(original.segments) && (await isSameImage(result, original))
}

async function isSameImage(
  { bytes, type }: Recompressed,
  original: { width: number; height: number },
): Promise<boolean> {
  const result = await inspect(memorySource(bytes))
  return (
    result.type === type &&
    result.width === original.width &&
    result.height === original.height &&
    !result.animated &&
    isWhole(result.segments, bytes.length)
  )
}
