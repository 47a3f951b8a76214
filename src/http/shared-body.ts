/**
 * A body of bytes that many answers have. A `Response` of bytes copies them, and whoever asks for them often fills the
 * memory with copies.
 */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
