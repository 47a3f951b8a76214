/** The upload chunk: client, cards of finished uploads, error messages. Loaded when the file picker opens. */
import { createThroughputMeter } from '../../../client/api/throughput.ts'
import { configure, prepare as prepareEngine, remove, send as sendNow } from '../../../client/browser.ts'
import { cancellable } from './cancellable.ts'
import { estimatedRate, prefetchesCodecs } from './throughput.ts'

export { compress } from '../../../client/browser.ts'
export { codesOf, codesOfAll } from '../card/codes.ts'
export { entryOf, notesFor, showDone } from '../card/done-card.ts'
export { isRejected, outlookOf, viewOfFailed, viewOfResuming } from '../card/failed-card.ts'
export { describeCompression, viewOfSending } from '../card/sending-card.ts'
export { thumbnailOf } from '../card/thumbnail.ts'
export { createUnsent } from '../intake/unsent.ts'
export { reasonOf } from './reasons.ts'
export { onceReachable, resetBackoff } from './reconnect.ts'

export const send = cancellable({ send: sendNow, remove })

/** Starts a worker, with codecs if the line is good. */
export const prepare = () => prepareEngine({ codecs: prefetchesCodecs() && 'png' })

/** Shared by all uploads of this visit. */
export const meter = createThroughputMeter({ estimate: estimatedRate })

// Without workers, pictures are uploaded uncompressed, and their cards say so.
configure({ withoutWorker: 'scrub' })
