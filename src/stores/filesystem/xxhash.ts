/**
 * XXH64, and memory whose bytes it hashes where they lie: others are copied into WebAssembly's memory first, which takes
 * half as long as to hash them. Node only.
 */
import { readFileSync } from 'node:fs'

interface Exports {
  mem: WebAssembly.Memory
  /** `at`: in `mem`. */
  xxh64(at: number, bytes: number, seed: bigint): bigint
}

// The package's functions copy all that they hash, into memory that only they know. This is the module inside them.
const code = readFileSync(new URL('../workerd/xxhash.wasm', import.meta.resolve('xxhash-wasm')))
const { mem, xxh64 } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports as unknown as Exports

/** The most that is hashed at once. Unit: bytes. */
const COPIED_BYTES = 64 * 1024

/** Pages of memory that nobody writes to cost nothing. Unit: bytes. */
const IN_PLACE_BYTES = 4.25 * 1024 * 1024

// All of it, once and for ever: to grow takes away the memory that is in use.
mem.grow(Math.ceil((COPIED_BYTES + IN_PLACE_BYTES - mem.buffer.byteLength) / (64 * 1024)))
const buffer = mem.buffer as ArrayBuffer
const copied = Buffer.from(buffer, 0, COPIED_BYTES)

/** What lies in it is not copied. */
export const hashedInPlace = Buffer.from(buffer, COPIED_BYTES, IN_PLACE_BYTES)

/** Of 64 KB at most. As a signed number. */
export function xxh64Of(bytes: Uint8Array): bigint {
  if (bytes.buffer === buffer) return xxh64(bytes.byteOffset, bytes.length, 0n)
  copied.set(bytes)
  return xxh64(0, bytes.length, 0n)
}
