/**
 * Sealed boxes for evidence: anybody with the public key seals, only the private key opens. Web Crypto alone, so that every host
 * seals, and the operator's command opens.
 *
 * A box: `MAGIC`, an ephemeral public key on P-256 (65 bytes), then pieces of AES-256-GCM with their tags. The key is HKDF-SHA-256 of the
 * shared secret, salted with both public keys; the nonce of a piece is its number and whether it is the last, so that none can be left
 * out, moved or cut off.
 */
import { fromHex, joined, toHex } from '../../bytes.ts'

const MAGIC = new TextEncoder().encode('pinhole evidence 1\n')
const CURVE = { name: 'ECDH', namedCurve: 'P-256' } as const
/** Uncompressed: SEC 1, 2.3.3. */
const POINT_BYTES = 65
const PIECE_BYTES = 1024 * 1024
const TAG_BYTES = 16

export type Seal = (plain: AsyncIterable<Uint8Array>, size: number) => Promise<Uint8Array>

export interface KeyPair {
  /** For `EVIDENCE_KEY`: hex. */
  publicKey: string
  /** PKCS #8, as PEM. */
  privateKey: string
}

export async function createKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])
  const [point, pkcs8] = await Promise.all([
    crypto.subtle.exportKey('raw', publicKey),
    crypto.subtle.exportKey('pkcs8', privateKey),
  ])
  const lines = btoa(String.fromCharCode(...new Uint8Array(pkcs8))).replace(/.{64}/g, '$&\n')
  return {
    publicKey: toHex(new Uint8Array(point)),
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines.trim()}\n-----END PRIVATE KEY-----\n`,
  }
}

/** Throws an `Error` if this is no public key. */
export async function sealerFor(publicKey: string): Promise<Seal> {
  const recipient = fromHex(publicKey)
  const known = await crypto.subtle.importKey('raw', recipient, CURVE, false, []).catch((cause) => {
    throw new Error('EVIDENCE_KEY is no public key: make one with "operator evidence key FILE"', { cause })
  })
  return async (plain, size) => {
    const ephemeral = await crypto.subtle.generateKey(CURVE, false, ['deriveBits'])
    const point = new Uint8Array(await crypto.subtle.exportKey('raw', ephemeral.publicKey))
    const key = await keyOf(ephemeral.privateKey, known, joined(point, recipient), 'encrypt')
    const pieces = Math.max(1, Math.ceil(size / PIECE_BYTES))
    const box = new Uint8Array(MAGIC.length + POINT_BYTES + size + pieces * TAG_BYTES)
    box.set(MAGIC)
    box.set(point, MAGIC.length)
    let at = MAGIC.length + POINT_BYTES
    let nth = 0
    for await (const piece of repacked(plain, size)) {
      const nonce = nonceOf(nth, ++nth === pieces)
      box.set(new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, piece)), at)
      at += piece.length + TAG_BYTES
    }
    if (at !== box.length) throw new Error('what is to be sealed is not as long as it was said to be')
    return box
  }
}

/** Decrypts a box. Throws an `Error` if it is damaged, or sealed for another key. */
export async function open(box: Uint8Array, privateKey: string): Promise<Uint8Array> {
  const head = MAGIC.length + POINT_BYTES
  if (box.length < head + TAG_BYTES || toHex(box.subarray(0, MAGIC.length)) !== toHex(MAGIC)) {
    throw new Error('this is no sealed evidence')
  }
  const point = box.slice(MAGIC.length, head)
  const { own, recipient } = await privateKeyOf(privateKey)
  try {
    const ephemeral = await crypto.subtle.importKey('raw', point, CURVE, false, [])
    const key = await keyOf(own, ephemeral, joined(point, recipient), 'decrypt')
    const plain: Uint8Array[] = []
    for (let at = head, nth = 0; at < box.length; nth++) {
      const end = Math.min(box.length, at + PIECE_BYTES + TAG_BYTES)
      const iv = nonceOf(nth, end === box.length)
      plain.push(
        new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, box.slice(at, end))),
      )
      at = end
    }
    return joined(...plain)
  } catch (cause) {
    throw new Error('it is damaged, or sealed for another key', { cause })
  }
}

async function privateKeyOf(pem: string): Promise<{ own: CryptoKey; recipient: Uint8Array }> {
  const base64 = /-----BEGIN PRIVATE KEY-----([\s\S]+)-----END PRIVATE KEY-----/.exec(pem)?.[1]
  if (base64 === undefined) throw new Error('this is no private key')
  const pkcs8 = Uint8Array.from(atob(base64.replace(/\s/g, '')), (char) => char.charCodeAt(0))
  const own = await crypto.subtle.importKey('pkcs8', pkcs8, CURVE, true, ['deriveBits'])
  const { x, y } = await crypto.subtle.exportKey('jwk', own)
  const coordinates = [x, y].map((text) =>
    Uint8Array.from(atob(text!.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0)),
  )
  return { own, recipient: joined(Uint8Array.of(4), ...coordinates) }
}

async function keyOf(
  own: CryptoKey,
  theirs: CryptoKey,
  salt: Uint8Array<ArrayBuffer>,
  use: 'encrypt' | 'decrypt',
): Promise<CryptoKey> {
  const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, own, 256)
  const material = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: MAGIC }
  return crypto.subtle.deriveKey(hkdf, material, { name: 'AES-GCM', length: 256 }, false, [use])
}

/** No key seals two boxes, so numbers never repeat. */
function nonceOf(nth: number, isLast: boolean): Uint8Array<ArrayBuffer> {
  const nonce = new Uint8Array(12)
  new DataView(nonce.buffer).setUint32(7, nth)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** The same bytes in pieces of `PIECE_BYTES`; the last one is shorter, and there is one at least. */
async function* repacked(
  plain: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(Math.min(PIECE_BYTES, size))
  let filled = 0
  let left = size
  for await (const chunk of plain) {
    if (chunk.length > left) throw new Error('what is to be sealed is longer than it was said to be')
    left -= chunk.length
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + piece.length - filled)
      piece.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < PIECE_BYTES || (left === 0 && at === chunk.length)) continue
      yield piece
      piece = new Uint8Array(Math.min(PIECE_BYTES, left + chunk.length - at))
      filled = 0
    }
  }
  if (left > 0) throw new Error('what is to be sealed is shorter than it was said to be')
  yield piece
}
