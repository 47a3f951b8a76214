/** Large and hostile files: read about once in windows, without blocking the event loop, and kept in few segments. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { newWork } from '../../src/formats/bytes/work.ts'
import { CHUNK_BYTES, memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { extent } from '../support/extent.ts'
import { hostileImages } from '../support/images/hostile.ts'
import { picture } from '../support/images/pictures.ts'
import { counted } from './subject.ts'

const SIZE = extent(3_000_000, 150_000)
const MAX_SEGMENTS = 4096
/** Allowance for signatures, the first window, and window boundaries. Unit: bytes. */
const CONSTANT = 2 * CHUNK_BYTES
/** The metadata of an AVIF is held in memory as a whole. Unit: bytes. */
const LARGEST_READ = 4 * 1024 * 1024
/** Limit on the bytes that a walk reads before it yields. */
const MAX_BYTES_PER_SLICE = 2 * 1024 * 1024

const hostile = await hostileImages(SIZE)

describe('the cost of hostile files', () => {
  for (const [name, make] of Object.entries(hostile)) {
    test(name, async () => {
      const bytes = make()
      const { source, counts } = counted(memorySource(bytes))
      const { result: segments, turns } = await inTurns(async () => {
        try {
          return (await inspect(source)).segments.length
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error))
          return 0
        }
      })
      assert.ok(segments <= MAX_SEGMENTS)
      assert.ok(counts.read <= 2 * bytes.length + CONSTANT, `${counts.read} of ${bytes.length}`)
      assert.ok(counts.calls <= bytes.length / (CHUNK_BYTES / 4) + 100, `${counts.calls} reads`)
      assert.ok(
        counts.largest <= (name.startsWith('AVIF') ? LARGEST_READ : CHUNK_BYTES),
        `${counts.largest} bytes in one read`,
      )
      assert.ok(
        turns >= Math.floor((counts.read - counts.largest) / MAX_BYTES_PER_SLICE),
        `${turns} turns for ${counts.read} bytes`,
      )
    })
  }

  test('walks over many small parts yield often', async () => {
    // None of these files makes the walk wait for a read.
    const minTurns: Record<string, number> = {
      'GIF, empty extensions': 50,
      'PNG, empty chunks': 50,
      'WebP, empty chunks': 50,
      'WebP, frames of one pixel': 20,
      'AVIF, units of a hundred bytes': 5,
      'AVIF, small samples': 10,
    }
    for (const [name, min] of Object.entries(minTurns)) {
      const make = hostile[name]
      assert.ok(make, name)
      const file = make()
      const { turns } = await inTurns(() => inspect(memorySource(file)).catch(() => null))
      assert.ok(turns >= (min * SIZE) / 3_000_000, `${name}: ${turns} turns`)
    }
  })

  test('concurrent walks run one slice per turn of the event loop', async () => {
    const sliceTurns: number[] = []
    await inTurns((turns) =>
      Promise.all(
        Array.from({ length: 4 }, async () => {
          const work = newWork()
          for (let slice = 0; slice < 5; slice++) {
            while (!work.spend(100));
            await work.yield()
            sliceTurns.push(turns())
          }
        }),
      ),
    )
    assert.equal(
      new Set(sliceTurns).size,
      20,
      `two slices ran in the same turn of the event loop: ${sliceTurns}`,
    )
  })
})

/** Runs a task, and counts the turns of the event loop meanwhile. The task gets the number so far. */
async function inTurns<T>(run: (turns: () => number) => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isRunning = true
  const count = () => {
    turns++
    if (isRunning) setImmediate(count)
  }
  setImmediate(count)
  try {
    const result = await run(() => turns)
    return { result, turns }
  } finally {
    isRunning = false
  }
}

test('a file that fits into one window is read with a single call', async () => {
  const files = await Promise.all([
    picture().jpeg().toBuffer(),
    picture().png().toBuffer(),
    picture().gif().toBuffer(),
    picture().webp().toBuffer(),
  ])
  for (const bytes of files) {
    const { source, counts } = counted(memorySource(bytes))
    await inspect(source)
    assert.deepEqual(counts, { read: bytes.length, largest: bytes.length, calls: 1 })
  }
})
