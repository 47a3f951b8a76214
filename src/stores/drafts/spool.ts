/**
 * Receives bytes of unknown length in constant memory: what is known to be small stays there, the rest goes to a
 * temporary file. Node only.
 */
import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ByteSource, bytesOf, isWhole } from '../../formats/image.ts'
import { createBlocks } from './blocks.ts'
import { assertWithin, createMemorySpool, digestOf, spooledMemory } from './memory.ts'
import type { Spooled, SpooledFile } from './spooled.ts'
import { draftPrefix, sweepDrafts } from './sweep.ts'

/** What a draft gathers before it writes. */
const BLOCK_BYTES = 64 * 1024

export interface Spool {
  /**
   * `limitBytes`: the most that is allowed, or less if less is known to come. Past it, it throws
   * `Refusal('file-too-large')`; what `body` throws is thrown on. Either way nothing is left behind.
   */
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled>
  /** A path in the spool's folder that no other process and no other call gets. */
  path(): string
  /** Removes what dead processes left, or what one of this machine left. */
  sweep(pid?: number): Promise<void>
}

/** Sees what goes to a file, in order. */
export interface Digester {
  update(piece: Uint8Array): void
  digests(): Uint8Array
}

/** Of this process: two spools of it may share a folder. */
let serial = 0

/** `folder` must exist. */
export function createSpool(folder: string, options: { digester?: () => Digester } = {}): Spool {
  const blocks = createBlocks({ isAligned: false })
  const memory = createMemorySpool()
  const path = () => join(folder, `${draftPrefix(process.pid)}${++serial}`)

  function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled> {
    return memory.hasRoom(limitBytes) ? memory.receive(body, limitBytes) : receiveInFile(body, limitBytes)
  }

  /** In a file unless it ends before the first write. */
  async function receiveInFile(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled> {
    const running = createHash('sha256')
    const digester = options.digester?.()
    let file: Temporary | null = null
    // Copied, not kept: chunks that die young cost the garbage collector nothing.
    const block = blocks.take(BLOCK_BYTES)
    let filled = 0
    let size = 0

    async function write(): Promise<void> {
      if (file === null) {
        const temporary = path()
        file = { path: temporary, handle: await open(temporary, 'wx+', 0o600) }
      }
      const bytes = block.subarray(0, filled)
      running.update(bytes)
      digester?.update(bytes)
      await file.handle.appendFile(bytes)
      filled = 0
    }

    let isInMemory = false
    try {
      for await (const chunk of body) {
        size += chunk.length
        assertWithin(limitBytes, size)
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
        const digests = () => digester?.digests() ?? new Uint8Array()
        const { path, handle } = file as Temporary
        return spooledFile({ path, handle, digests }, size, running.digest('hex'))
      }
      isInMemory = true
    } catch (error) {
      if (file !== null) await discardFile(file)
      throw error
    } finally {
      if (!isInMemory) blocks.give(block)
    }
    return spooledMemory(block.subarray(0, size), { gather: () => null, discard: () => blocks.give(block) })
  }

  return { receive, path, sweep: (pid) => sweepDrafts(folder, pid) }
}

/** A file that is being written. */
type Temporary = Omit<SpooledFile, 'digests'>

async function discardFile(file: Temporary): Promise<void> {
  await file.handle.close().catch(() => {})
  await rm(file.path, { force: true })
}

function spooledFile(file: SpooledFile, size: number, whole: string): Spooled {
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
    gather: () => null,
    discard: () => discardFile(file),
  }
}
