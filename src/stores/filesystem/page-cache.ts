/**
 * Files that the kernel has in its memory, on the event loop: openat2(2) with RESOLVE_CACHED finds the names that it knows,
 * preadv2(2) with RWF_NOWAIT gives the bytes that are there, and neither waits for a disk. To have another thread do it
 * costs more than the bytes of a small image. Linux and Node only.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The descriptor of the file at `path`; -1 if the kernel does not know the name, or there is none. */
export type OpenCached = (path: string) => number

/** Fills `into` with a file's bytes from `offset` on, as far as the kernel has them. How many; -1: none. */
export type ReadCached = (descriptor: number, into: Uint8Array, offset: number) => number

const RWF_NOWAIT = 8
/** The same number on both architectures. */
const SYS_openat2 = 437n
const AT_FDCWD = -100
/** O_CLOEXEC, as with Node's own descriptors. */
const OPEN_FLAGS = BigInt(constants.O_RDONLY) | 0o2000000n
const RESOLVE_CACHED = 0x20n
const HOW_BYTES = 24n
const PATH_BYTES = 4096

/** Little-endian, with pointers and longs of 64 bits (LP64). */
const ARCHITECTURES = ['x64', 'arm64']

/** What is used of `node:ffi`, which the types of Node 24 do not know. */
interface Ffi {
  dlopen(
    path: null,
    functions: object,
  ): {
    functions: {
      preadv2(descriptor: number, vector: bigint, count: number, offset: bigint, flags: number): number
      syscall(number: bigint, descriptor: number, path: bigint, how: bigint, bytes: bigint): number
    }
  }
  getRawPointer(memory: Uint8Array | BigUint64Array): bigint
}

interface PageCache {
  read: ReadCached
  open: OpenCached | null
}

let bound: PageCache | null | undefined

function pageCache(): PageCache | null {
  if (bound === undefined) bound = bind()
  return bound
}

/** `null` if this system, or this version of Node, has no such reads. */
export function cachedReads(): ReadCached | null {
  return pageCache()?.read ?? null
}

/**
 * As `OpenCached`, for a file that was open a short while ago. Where the kernel does not tell what it knows (before Linux
 * 5.12), a name that it forgot waits for the disk.
 */
export function openKnown(path: string): number {
  const open = pageCache()?.open ?? null
  if (open !== null) return open(path)
  try {
    return openSync(path, 'r')
  } catch {
    return -1
  }
}

function bind(): PageCache | null {
  if (process.platform !== 'linux' || !ARCHITECTURES.includes(process.arch)) return null
  try {
    // Since Node 26.1. An import would fail where it is missing.
    const ffi = process.getBuiltinModule('node:ffi') as Ffi | undefined
    if (ffi === undefined) return null
    const { functions } = ffi.dlopen(null, {
      preadv2: { arguments: ['int32', 'pointer', 'int32', 'int64', 'int32'], return: 'int32' },
      // The C library has no function for openat2.
      syscall: { arguments: ['int64', 'int32', 'pointer', 'pointer', 'uint64'], return: 'int32' },
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
    // A `struct open_how`: flags, mode, and how to resolve the path.
    const how = new BigUint64Array(new ArrayBuffer(Number(HOW_BYTES)))
    const name = Buffer.allocUnsafeSlow(PATH_BYTES)
    const [howAddress, nameAddress] = [getRawPointer(how), getRawPointer(name)]
    const open: OpenCached = (path) => {
      // Written here, though always the same: what no call uses is garbage, and its address with it.
      how[0] = OPEN_FLAGS
      how[2] = RESOLVE_CACHED
      const length = name.write(path, 'utf8')
      // It may be cut short there.
      if (length > PATH_BYTES - 4) return -1
      name[length] = 0
      return functions.syscall(SYS_openat2, AT_FDCWD, nameAddress, howAddress, HOW_BYTES)
    }
    return {
      read: (descriptor, into, offset) => read(descriptor, into, offset, RWF_NOWAIT),
      open: opensAsNode(open) ? open : null,
    }
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

/** A name that was opened just now is known, but the kernel may let go of any at any moment. */
function opensAsNode(open: OpenCached): boolean {
  for (let tries = 0; tries < 10; tries++) {
    const descriptor = openSync(process.execPath, 'r')
    const other = open(process.execPath)
    try {
      if (other >= 0) return fstatSync(other).ino === fstatSync(descriptor).ino
    } finally {
      closeSync(descriptor)
      if (other >= 0) closeSync(other)
    }
  }
  return false
}
