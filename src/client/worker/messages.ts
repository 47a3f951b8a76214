/** What the engine and its workers say to each other. Everything here survives a structured clone. */
import type { RefusalCode } from '../../errors.ts'
import type { Inspection } from '../../formats/image.ts'
import type { ImageType } from '../../protocol.ts'
import type { Means } from '../compress/plan.ts'
import type { MadePreview } from '../compress/preview.ts'
import type { Recompressed } from '../compress/recompress.ts'
import type { Fallback, ForeignType, Line, Mode } from '../types.ts'

export interface CompressRequest {
  kind: 'compress'
  blob: Blob
  mode: Mode
  means: Means
  /** Whether a type that the service does not take is made one that it takes. */
  convert: boolean
  /** What the result waits for. Else the smallest is wanted. */
  line?: Line
}

/** Result of inspecting the file. A foreign type has no `segments`: it is converted, never sent as it is. */
export interface Found extends Omit<Inspection, 'type'> {
  type: ImageType | ForeignType
  /** Brightness beyond white is in the file, and will not be in the result. */
  losesHdr?: boolean
}

export type Request =
  | CompressRequest
  /** Load the codecs that photographs need. No answer. */
  | { kind: 'prepare' }

/** `ready` comes once, unasked. `compress` is answered by `refused` or `failed`, or by `inspected` and then one of the others. */
export type Reply =
  | { kind: 'ready' }
  | { kind: 'inspected'; inspection: Found }
  /** The codecs are here: from now on time counts. Only if something is to be recompressed. */
  | { kind: 'working' }
  /** The pixels were decoded, in so many milliseconds: how fast this machine is today. */
  | { kind: 'decoded'; milliseconds: number }
  /** A small picture of the file. Its result is awaited all the same. */
  | (MadePreview & { kind: 'preview' })
  /** The result so far. A better one may follow; if none does, it stands. */
  | (Recompressed & { kind: 'interim' })
  /** The file as it came, or without its metadata: the engine has all it needs for both. */
  | { kind: 'kept' }
  | { kind: 'scrubbed'; fallback?: Fallback }
  | (Recompressed & { kind: 'recompressed' })
  | { kind: 'refused'; code: RefusalCode; detail: string }
  /** The file can't be read: gone from the disk, or a fault of the program. */
  | { kind: 'failed'; message: string }
