/** Large and hostile files are read about once, a window at a time, interleaved with everything else, and kept in few pieces. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { newWork } from '../../src/formats/bytes/work.ts'
import { PIECE_BYTES, sourceOf } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { extent } from '../support/extent.ts'
import { hostileImages } from '../support/images/hostile.ts'
import { picture } from '../support/images/pictures.ts'
import { counted } from './subject.ts'

const SIZE = extent(3_000_000, 150_000)
const MAX_SEGMENTS = 4096
/** Looks at the first window, at signatures, and at the place where two windows meet. */
const CONSTANT = 2 * PIECE_BYTES
/** A description of an AVIF is held in memory whole. */
const LARGEST_READ = 4 * 1024 * 1024
/** What a walk reads at most before it lets others run. */
const BYTES_A_TURN = 2 * 1024 * 1024

const hostile = await hostileImages(SIZE)

describe('what a hostile file costs', () => {
  for (const [name, make] of Object.entries(hostile)) {
    test(name, async () => {
      const bytes = make()
      const { source, counts } = counted(sourceOf(bytes))
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
      assert.ok(counts.calls <= bytes.length / (PIECE_BYTES / 4) + 100, `${counts.calls} reads`)
      assert.ok(
        counts.largest <= (name.startsWith('AVIF') ? LARGEST_READ : PIECE_BYTES),
        `${counts.largest} at once`,
      )
      assert.ok(
        turns >= Math.floor((counts.read - counts.largest) / BYTES_A_TURN),
        `${turns} turns for ${counts.read} bytes`,
      )
    })
  }

  test('many small parts are walked in many turns', async () => {
    // None of these files makes the walk wait for a read.
    const least: Record<string, number> = {
      'GIF, empty extensions': 50,
      'PNG, empty chunks': 50,
      'WebP, empty chunks': 50,
      'WebP, frames of one pixel': 20,
      'AVIF, units of a hundred bytes': 5,
      'AVIF, small samples': 10,
    }
    for (const [name, fewest] of Object.entries(least)) {
      const make = hostile[name]
      assert.ok(make, name)
      const file = make()
      const { turns } = await inTurns(() => inspect(sourceOf(file)).catch(() => null))
      assert.ok(turns >= (fewest * SIZE) / 3_000_000, `${name}: ${turns} turns`)
    }
  })

  test('walks at once take turns one at a time', async () => {
    const taken: number[] = []
    let loops = 0
    let isRunning = true
    const count = () => {
      loops++
      if (isRunning) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const work = newWork()
        for (let turn = 0; turn < 5; turn++) {
          while (!work.spend(100));
          await work.yield()
          taken.push(loops)
        }
      }),
    )
    isRunning = false
    assert.equal(new Set(taken).size, 20, `two ran in the same turn of the event loop: ${taken}`)
  })
})

/** How many turns of the event loop others got meanwhile. */
async function inTurns<T>(run: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isRunning = true
  const count = () => {
    turns++
    if (isRunning) setImmediate(count)
  }
  setImmediate(count)
  try {
    const result = await run()
    return { result, turns }
  } finally {
    isRunning = false
  }
}

test('a file of one window is read once', async () => {
  const files = await Promise.all([
    picture().jpeg().toBuffer(),
    picture().png().toBuffer(),
    picture().gif().toBuffer(),
    picture().webp().toBuffer(),
  ])
  for (const bytes of files) {
    const { source, counts } = counted(sourceOf(bytes))
    await inspect(source)
    assert.deepEqual(counts, { read: bytes.length, largest: bytes.length, calls: 1 })
  }
})
