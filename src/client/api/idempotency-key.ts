/** 144 random bits. `randomUUID` has only 122, and browsers lack it on plain-http pages. */
export function newIdempotencyKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))))
}
