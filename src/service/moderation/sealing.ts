/**
 * Sealed boxes for evidence: the public key seals, only the private key opens. Uses only Web Crypto, so that every host can
 * seal and the operator's command can open.
 *
 * Format: `MAGIC`, an ephemeral P-256 public key (65 bytes), then chunks of AES-256-GCM, each with its tag. The key is
 * HKDF-SHA-256 of the shared secret, salted with both public keys. A chunk's nonce contains its index and whether it is the
 * last, so that chunks cannot be dropped, reordered or truncated.
 */
import { concatBytes, fromHex, toHex } from '../../bytes.ts'

const MAGIC = new TextEncoder().encode('pinhole evidence 1\n')
const CURVE = { name: 'ECDH', namedCurve: 'P-256' } as const
/** Uncompressed point: SEC 1, 2.3.3. */
const POINT_BYTES = 65
const CHUNK_BYTES = 1024 * 1024
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

/** Throws an `Error` if the public key is invalid. */
export async function sealerFor(publicKey: string): Promise<Seal> {
  const recipient = fromHex(publicKey)
  const known = await crypto.subtle.importKey('raw', recipient, CURVE, false, []).catch((cause) => {
    throw new Error('EVIDENCE_KEY is not a valid public key; create one with "operator evidence key FILE"', {
      cause,
    })
  })
  return async (plain, size) => {
    const ephemeral = await crypto.subtle.generateKey(CURVE, false, ['deriveBits'])
    const point = new Uint8Array(await crypto.subtle.exportKey('raw', ephemeral.publicKey))
    const key = await keyOf(ephemeral.privateKey, known, concatBytes(point, recipient), 'encrypt')
    const chunks = Math.max(1, Math.ceil(size / CHUNK_BYTES))
    const box = new Uint8Array(MAGIC.length + POINT_BYTES + size + chunks * TAG_BYTES)
    box.set(MAGIC)
    box.set(point, MAGIC.length)
    let at = MAGIC.length + POINT_BYTES
    let index = 0
    for await (const chunk of rechunked(plain, size)) {
      const nonce = nonceOf(index, ++index === chunks)
      box.set(new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, chunk)), at)
      at += chunk.length + TAG_BYTES
    }
    if (at !== box.length) throw new Error('the data to seal does not have the announced length')
    return box
  }
}

/** Decrypts a box. Throws an `Error` if it is damaged, or sealed for another key. */
export async function open(box: Uint8Array, privateKey: string): Promise<Uint8Array> {
  const head = MAGIC.length + POINT_BYTES
  if (box.length < head + TAG_BYTES || toHex(box.subarray(0, MAGIC.length)) !== toHex(MAGIC)) {
    throw new Error('this is not sealed evidence')
  }
  const point = box.slice(MAGIC.length, head)
  const { own, recipient } = await privateKeyOf(privateKey)
  try {
    const ephemeral = await crypto.subtle.importKey('raw', point, CURVE, false, [])
    const key = await keyOf(own, ephemeral, concatBytes(point, recipient), 'decrypt')
    const plain: Uint8Array[] = []
    for (let at = head, index = 0; at < box.length; index++) {
      const end = Math.min(box.length, at + CHUNK_BYTES + TAG_BYTES)
      const iv = nonceOf(index, end === box.length)
      plain.push(
        new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, box.slice(at, end))),
      )
      at = end
    }
    return concatBytes(...plain)
  } catch (cause) {
    throw new Error('the evidence is damaged, or sealed for a different key', { cause })
  }
}

async function privateKeyOf(pem: string): Promise<{ own: CryptoKey; recipient: Uint8Array }> {
  const base64 = /-----BEGIN PRIVATE KEY-----([\s\S]+)-----END PRIVATE KEY-----/.exec(pem)?.[1]
  if (base64 === undefined) throw new Error('this is not a private key')
  const pkcs8 = Uint8Array.from(atob(base64.replace(/\s/g, '')), (char) => char.charCodeAt(0))
  const own = await crypto.subtle.importKey('pkcs8', pkcs8, CURVE, true, ['deriveBits'])
  const { x, y } = await crypto.subtle.exportKey('jwk', own)
  const coordinates = [x, y].map((text) =>
    Uint8Array.from(atob(text!.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0)),
  )
  return { own, recipient: concatBytes(Uint8Array.of(4), ...coordinates) }
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

/** Each box has its own key, so nonces never repeat. */
function nonceOf(index: number, isLast: boolean): Uint8Array<ArrayBuffer> {
  const nonce = new Uint8Array(12)
  new DataView(nonce.buffer).setUint32(7, index)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Rechunks to `CHUNK_BYTES`. The last chunk may be shorter; there is at least one. */
async function* rechunked(
  plain: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let chunk = new Uint8Array(Math.min(CHUNK_BYTES, size))
  let filled = 0
  let remaining = size
  for await (const input of plain) {
    if (input.length > remaining) throw new Error('the data to seal is longer than announced')
    remaining -= input.length
    for (let at = 0; at < input.length; ) {
      const part = input.subarray(at, at + chunk.length - filled)
      chunk.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < CHUNK_BYTES || (remaining === 0 && at === input.length)) continue
      yield chunk
      chunk = new Uint8Array(Math.min(CHUNK_BYTES, remaining + input.length - at))
      filled = 0
    }
  }
  if (remaining > 0) throw new Error('the data to seal is shorter than announced')
  yield chunk
}
