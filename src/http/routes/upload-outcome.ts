/** What an upload asks for, and what became of it: between the route and its answers. */
import type { UploadAnswer } from '../../protocol.ts'
import type { RequestBody } from '../context.ts'

export interface UploadRequest {
  method: string
  /** Without a query. */
  path: string
  /** The address of the socket's peer. */
  peer: string
  /** By name in lower case. */
  header(name: string): string | undefined
  body: RequestBody
  /** Calls `act` if the client goes away. What it returns ends that. */
  onGone(act: () => void): () => void
  requestId: string
}

/** What became of a request: `stored`, or `error`, or neither where the methods are all that was asked for. */
export interface Outcome {
  /** `bytes`: of the image as it is stored. */
  stored?: { answer: UploadAnswer; bytes: number }
  error?: unknown
  /** Uploads left today, if that was found out. */
  remaining?: number
  /** The methods of the address, where the answer names them. */
  allow?: string
}
