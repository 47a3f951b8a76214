/** The chunk that uploads: client, cards of uploaded pictures, error messages. Loaded when the file picker opens. */
import { configure, remove, send as sendNow } from '../../../client/browser.ts'
import { cancellable } from './cancellable.ts'
import { createThroughputMeter } from './throughput.ts'

export { compress, prepare } from '../../../client/browser.ts'
export { notesOn, pictureOf, showDone } from '../card/done-card.ts'
export { isDecided, outlookOf, viewOfFailed, viewOfResuming } from '../card/failed-card.ts'
export { thumbnailOf } from '../card/thumbnail.ts'
export { createUnsent } from '../intake/unsent.ts'
export { reasonOf } from './reasons.ts'
export { isBack, whenBack } from './return.ts'

export const send = cancellable({ send: sendNow, remove })

/** Measured over all uploads of this visit. */
export const line = createThroughputMeter()

// Without workers a picture still goes up, and its card says that it was not made smaller.
configure({ withoutWorker: 'scrub' })
