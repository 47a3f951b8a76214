/**
 * Receives bytes of unknown length in constant memory: the first few hundred KB stay in memory, the rest goes to a
 * temporary file. Node only.
 */
import { createHash, type Hash, hash } from 'node:crypto'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../errors.ts'
import { type ByteSource, bytesOf, isWhole, type Segment } from '../formats/image.ts'
import { createBlocks } from './spool-blocks.ts'

/** A draft that is known to be no larger than this has no file. */
export const SPOOL_MEMORY_BYTES = 256 * 1024

/** What a larger draft gathers before it writes. */
const SMALL_BLOCK_BYTES = 64 * 1024

/** All drafts in memory together stay below this: beyond it even a small one gets a file. */
const SPOOL_TOTAL_MEMORY_BYTES = 32 * 1024 * 1024

/** From this size on, bytes in memory are hashed by another thread. */
const HASH_BESIDE_BYTES = 64 * 1024

export interface Spool {
  /**
   * `limitBytes`: the most that is allowed, or less if less is known to come. Past it, it throws
   * `Refusal('file-too-large')`; what `body` throws is thrown on. Either way nothing is left behind.
   */
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled>
  /** A path in the spool's folder that no other process and no other call gets. */
  path(): string
  /** Removes what dead processes left: every file, or those of one process. */
  sweep(pid?: number): Promise<void>
}

export interface Spooled extends ByteSource {
  /** The temporary file, if there is one. It belongs to the caller: to append to, to flush, to move away. */
  readonly file: { readonly path: string; readonly handle: FileHandle } | null
  /** SHA-256 of what `segments` say, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** What `segments` say, in pieces. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  /** Closes and removes the file. Harmless a second time, and after the file was moved away. */
  discard(): Promise<void>
}

/** `folder` must exist. Temporary files are named `<pid>-<number>`. */
export function createSpool(folder: string): Spool {
  let serial = 0
  const blocks = createBlocks()
  const path = () => join(folder, `${process.pid}-${++serial}`)

  async function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled> {
    // What stays in memory is hashed at the end, beside the event loop.
    let running: Hash | undefined
    let file: { path: string; handle: FileHandle } | null = null
    // Copied, not kept: chunks that die young cost the garbage collector nothing.
    const fits = limitBytes <= SPOOL_MEMORY_BYTES && blocks.takenBytes() <= SPOOL_TOTAL_MEMORY_BYTES
    const block = blocks.take(fits && limitBytes > SMALL_BLOCK_BYTES ? SPOOL_MEMORY_BYTES : SMALL_BLOCK_BYTES)
    let filled = 0
    let size = 0

    async function write(): Promise<void> {
      if (file === null) {
        const temporary = path()
        file = { path: temporary, handle: await open(temporary, 'wx+', 0o600) }
      }
      const bytes = block.subarray(0, filled)
      running ??= createHash('sha256')
      running.update(bytes)
      await file.handle.appendFile(bytes)
      filled = 0
    }

    let isInMemory = false
    try {
      for await (const chunk of body) {
        size += chunk.length
        if (size > limitBytes) {
          throw new Refusal(
            'file-too-large',
            `The file is larger than ${limitBytes} bytes, the most this server takes.`,
          )
        }
        for (let at = 0; at < chunk.length; ) {
          if (filled === block.length) await write()
          const part = chunk.subarray(at, at + block.length - filled)
          block.set(part, filled)
          filled += part.length
          at += part.length
        }
      }
      if (file !== null) {
        await write()
        return spooledFile(file, size, running!.digest('hex'))
      }
      isInMemory = true
    } catch (error) {
      if (file !== null) await discardFile(file)
      throw error
    } finally {
      if (!isInMemory) blocks.give(block)
    }
    return spooledMemory(block.subarray(0, size), () => blocks.give(block))
  }

  async function sweep(pid?: number): Promise<void> {
    const names = await readdir(folder)
    const mine = pid === undefined ? names : names.filter((name) => name.startsWith(`${pid}-`))
    await Promise.all(mine.map((name) => rm(join(folder, name), { force: true })))
  }

  return { receive, path, sweep }
}

async function discardFile(file: { path: string; handle: FileHandle }): Promise<void> {
  await file.handle.close().catch(() => {})
  await rm(file.path, { force: true })
}

function spooledMemory(bytes: Uint8Array<ArrayBuffer>, giveBack: () => void): Spooled {
  let isGivenBack = false
  const source: ByteSource = {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  }
  let whole: Promise<string> | undefined
  return {
    ...source,
    file: null,
    async digest(segments) {
      if (isWhole(segments, bytes.length)) {
        whole ??= digestOfBytes(bytes)
        return whole
      }
      return digestOf(source, segments)
    },
    bytes: (segments) => bytesOf(source, segments),
    async discard() {
      if (isGivenBack) return
      isGivenBack = true
      giveBack()
    },
  }
}

function spooledFile(file: { path: string; handle: FileHandle }, size: number, whole: string): Spooled {
  const source: ByteSource = {
    size,
    async read(offset, length) {
      const wanted = Math.max(0, Math.min(length, size - offset))
      const buffer = Buffer.allocUnsafe(wanted)
      let filled = 0
      while (filled < wanted) {
        const { bytesRead } = await file.handle.read(buffer, filled, wanted - filled, offset + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return buffer.subarray(0, filled)
    },
  }
  return {
    ...source,
    file,
    digest: async (segments) => (isWhole(segments, size) ? whole : digestOf(source, segments)),
    bytes: (segments) => bytesOf(source, segments),
    discard: () => discardFile(file),
  }
}

/** Large ones by the thread pool: a trip there costs as much as 30 KB here. */
async function digestOfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.length < HASH_BESIDE_BYTES) return hash('sha256', bytes)
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

async function digestOf(source: ByteSource, segments: Segment[]): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytesOf(source, segments)) hash.update(piece)
  return hash.digest('hex')
}
