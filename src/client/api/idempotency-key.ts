/** Names an upload: 144 random bits. `randomUUID` has 122, and browsers lack it on plain http. */
export function newIdempotencyKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))))
}
