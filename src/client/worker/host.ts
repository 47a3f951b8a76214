import type { Reply, Request } from './messages.ts'

/** A running worker, of a browser or of Node. */
export interface WorkerHandle {
  post(request: Request): void
  /** A busy worker keeps the process alive, an idle one doesn't. */
  setBusy(busy: boolean): void
  terminate(): void
}

export interface WorkerEvents {
  onReply(reply: Reply): void
  /** It could not start, or broke down. Nothing follows. */
  onLost(error: Error): void
}

/** What the engine needs to know of the place where it runs. */
export interface EngineHost {
  startWorker(events: WorkerEvents): WorkerHandle
  maxWorkers: number
  /** The largest picture that there is memory for at this moment. Unit: pixels. */
  maxPixels(): number
  /** No worker ever ran. What it throws, `compress` rejects with; else pictures go out uncompressed, and say so. */
  noWorker?(): void
  /** A blob that can be sent to a worker. */
  sendable(blob: Blob): Promise<Blob>
}
