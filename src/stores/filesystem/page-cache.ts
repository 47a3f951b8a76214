/**
 * Reads from the kernel's memory on the event loop: preadv2(2) with RWF_NOWAIT gives what is there, and never waits for a
 * disk. To have another thread read costs more than the bytes of a small image. Linux and Node only.
 */
import { closeSync, openSync, readSync } from 'node:fs'

/** Fills `into` with a file's bytes from `offset` on, as far as the kernel has them. How many; -1: none. */
export type ReadCached = (descriptor: number, into: Uint8Array, offset: number) => number

const RWF_NOWAIT = 8

/** Where C's types have the sizes below, and the lower half of a number comes first. */
const ARCHITECTURES = ['x64', 'arm64']

let bound: ReadCached | null | undefined

/** `null` if this system, or this version of Node, has no such reads. */
export function cachedReads(): ReadCached | null {
  if (bound === undefined) bound = bind()
  return bound
}

function bind(): ReadCached | null {
  if (process.platform !== 'linux' || !ARCHITECTURES.includes(process.arch)) return null
  try {
    // Since Node 26.1. An import would fail where it is missing.
    const ffi = process.getBuiltinModule('node:ffi')
    const { functions } = ffi.dlopen(null, {
      preadv2: { arguments: ['int32', 'pointer', 'int32', 'int64', 'int32'], return: 'int32' },
    })
    const { getRawPointer } = ffi
    // A `struct iovec`: address and length. Memory of its own does not move.
    const vector = new BigUint64Array(new ArrayBuffer(16))
    const address = getRawPointer(vector)
    const read = (descriptor: number, into: Uint8Array, offset: number, flags: number): number => {
      vector[0] = getRawPointer(into)
      vector[1] = BigInt(into.length)
      return functions.preadv2(descriptor, address, 1, BigInt(offset), flags)
    }
    if (!readsAsNode(read)) return null
    return (descriptor, into, offset) => read(descriptor, into, offset, RWF_NOWAIT)
  } catch {
    return null
  }
}

/** The interface is young: whether it does what it says is seen by a file that is there in any case. */
function readsAsNode(
  read: (descriptor: number, into: Uint8Array, offset: number, flags: number) => number,
): boolean {
  const bytes = 4096
  const [one, other] = [Buffer.alloc(bytes + 2), Buffer.alloc(bytes + 2)]
  const descriptor = openSync(process.execPath, 'r')
  try {
    // From an odd place to an odd one.
    readSync(descriptor, one, 1, bytes, 101)
    return read(descriptor, other.subarray(1, bytes + 1), 101, 0) === bytes && one.equals(other)
  } finally {
    closeSync(descriptor)
  }
}
