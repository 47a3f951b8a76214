/** The upload chunk: client, cards of finished uploads, error messages. Loaded when the file picker opens. */
import { createThroughputMeter } from '../../../client/api/throughput.ts'
import {
  compress as compressNow,
  configure,
  prepare as prepareEngine,
  remove,
  send as sendNow,
} from '../../../client/browser.ts'
import { scrub } from '../../../client/compress/engine.ts'
import { cancellable } from './cancellable.ts'
import type { Uploader } from './queue.ts'
import { estimatedRate, prefetchesCodecs } from './throughput.ts'

export { FATAL_CODES } from '../../../client/errors.ts'
export { codesOf, codesOfAll } from '../card/codes.ts'
export { entryOf, notesFor, showDone } from '../card/done-card.ts'
export { isRejected, outlookOf, viewOfFailed, viewOfResuming } from '../card/failed-card.ts'
export { describeCompression, mustAsk, viewOfSending } from '../card/sending-card.ts'
export { thumbnailOf } from '../card/thumbnail.ts'
export { createUnsent } from '../intake/unsent.ts'
export { reasonOf } from './reasons.ts'
export { onceReachable, resetBackoff } from './reconnect.ts'

export const send = cancellable({ send: sendNow, remove })

export const compress: Uploader['compress'] = async (file, { isSkipped, ...options }) =>
  (isSkipped && (await scrub(file).catch(() => null))) || compressNow(file, options)

/** Starts a worker, with codecs if the line is good. */
export const prepare = () => prepareEngine({ codecs: prefetchesCodecs() && 'png' })

/** Shared by all uploads of this visit. */
export const meter = createThroughputMeter({ estimate: estimatedRate })

// Without workers, pictures are uploaded uncompressed, and their cards say so.
configure({ withoutWorker: 'scrub' })
