/**
 * The subset of Cloudflare's R2 bucket binding that Pinhole uses.
 *
 * Source: Cloudflare R2, Workers API reference.
 */

export interface R2Object {
  readonly key: string
  /** Unit: bytes. */
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  readonly uploaded: Date
  readonly customMetadata?: Record<string, string>
}

export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream<Uint8Array>
  arrayBuffer(): Promise<ArrayBuffer>
}

/** ETags without quotes, or `*`. */
export interface R2Conditional {
  etagMatches?: string
  etagDoesNotMatch?: string
}

export interface R2PutOptions {
  onlyIf?: R2Conditional
  /** SHA-256 of the bytes, in hex. On a mismatch the put fails and stores nothing. */
  sha256?: string
  httpMetadata?: { contentType?: string; cacheControl?: string }
  customMetadata?: Record<string, string>
}

export interface R2Page {
  readonly objects: R2Object[]
  readonly truncated: boolean
  /** Only if `truncated`. */
  readonly cursor?: string
}

export interface R2Bucket {
  head(key: string): Promise<R2Object | null>
  /** Without a body if `onlyIf` is not met. */
  get(
    key: string,
    options?: { onlyIf?: R2Conditional; range?: { offset: number; length: number } },
  ): Promise<R2ObjectBody | R2Object | null>
  /** `null` if `onlyIf` is not met. A stream must have a known length. */
  put(key: string, value: R2Value, options?: R2PutOptions): Promise<R2Object | null>
  delete(key: string): Promise<void>
  list(options: {
    prefix: string
    limit: number
    delimiter: string
    include: 'customMetadata'[]
    cursor?: string
    startAfter?: string
  }): Promise<R2Page>
}

export type R2Value = ReadableStream | Uint8Array<ArrayBuffer>
