/** SHA-256 as WebCrypto has it: of bytes that are all there. */

/** Lower-case hex, as signatures and records spell it. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** As `x-amz-checksum-sha256` spells it. */
export function base64OfHex(hex: string): string {
  return btoa(hex.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))
}
