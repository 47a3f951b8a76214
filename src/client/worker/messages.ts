/** Messages between the engine and its workers. All are structured-cloneable. */
import type { RefusalCode } from '../../errors.ts'
import type { Inspection } from '../../formats/image.ts'
import type { ImageType } from '../../protocol.ts'
import type { Capabilities } from '../compress/plan.ts'
import type { MadePreview } from '../compress/preview-jpeg.ts'
import type { Recompressed } from '../compress/recompress.ts'
import type { Fallback, ForeignType, Line, Mode } from '../types.ts'

export interface CompressRequest {
  kind: 'compress'
  blob: Blob
  mode: Mode
  capabilities: Capabilities
  /** Whether to convert a type that the service does not accept to one that it does. */
  convert: boolean
  /** The connection to trade encoding time against. If absent, produces the smallest result. */
  line?: Line
}

/** Result of inspecting the file. A foreign type has no `segments`: it is converted, never sent as is. */
export interface Inspected extends Omit<Inspection, 'type'> {
  type: ImageType | ForeignType
  /** The file is HDR, and the result won't be. */
  losesHdr?: boolean
}

export type Request =
  | CompressRequest
  /** Load the codecs for a type. Has no reply. */
  | { kind: 'prepare'; codecs: 'jpeg' | 'png' }

/**
 * `ready` is sent once, when the worker has started. The last reply to `compress` is `kept`, `scrubbed` or
 * `recompressed`, each after an `inspected`, or else `refused` or `failed`.
 */
export type Reply =
  | { kind: 'ready' }
  | { kind: 'inspected'; inspection: Inspected }
  /** The codecs are loaded: step timeouts start here. Only sent before recompression. */
  | { kind: 'working' }
  /** The pixels are decoded. The time that took measures this machine's current speed. */
  | { kind: 'decoded'; milliseconds: number }
  /** A preview of the file. The result follows. */
  | (MadePreview & { kind: 'preview' })
  /** A provisional result, which stands unless a better one follows. */
  | (Recompressed & { kind: 'interim' })
  /** Use the input itself (`kept`), or the input without its metadata: the engine builds both from the inspection. */
  | { kind: 'kept' }
  | { kind: 'scrubbed'; fallback?: Fallback }
  | (Recompressed & { kind: 'recompressed' })
  | { kind: 'refused'; code: RefusalCode; detail: string }
  /** The file can't be read, e.g. because it was deleted, or there is a bug. Or a part of the client can't be loaded. */
  | { kind: 'failed'; message: string; isLoadFault: boolean }
