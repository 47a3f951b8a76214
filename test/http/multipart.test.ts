/** The multipart parser returns the file intact, however the body is split into chunks. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../src/errors.ts'
import { filePart } from '../../src/http/multipart.ts'
import { multipart } from '../support/multipart.ts'

/** Short, so that file bytes often look like the start of a delimiter. */
const boundary = fc.string({ unit: fc.constantFrom('-', 'a', 'b'), minLength: 1, maxLength: 6 })
const bytes = fc
  .array(fc.constantFrom('\r', '\n', '\r\n', '-', '--', '\r\n--', 'a', 'b', 'ab', 'x'), {
    maxLength: 60,
    size: 'max',
  })
  .map((pieces) => Buffer.from(pieces.join('')))

function bodyOf(boundary: string, body: Uint8Array, preamble: string): Buffer {
  return multipart([{ name: 'file', filename: 'a.png', body }], { boundary, preamble }).body
}

function split(body: Buffer, offsets: number[]): Buffer[] {
  const ends = [...new Set(offsets.map((offset) => offset % (body.length + 1))), body.length].sort(
    (a, b) => a - b,
  )
  // Copies, because the source may reuse a chunk's memory once it is read.
  return ends.map((end, i) => Buffer.from(body.subarray(i === 0 ? 0 : ends[i - 1], end)))
}

async function read(boundary: string, pieces: Buffer[]): Promise<Buffer> {
  const file = filePart(`multipart/form-data; boundary=${boundary}`, Readable.from(pieces))
  return Buffer.concat(await Array.fromAsync(file, (piece) => Buffer.from(piece)))
}

describe('a form that arrives in chunks', () => {
  it('yields the same file however it is split', async () => {
    await fc.assert(
      fc.asyncProperty(
        boundary,
        bytes,
        fc.constantFrom('', '\r\n', 'preamble\r\n', '--\r\n'),
        fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
        async (boundary, file, preamble, offsets) => {
          fc.pre(!file.includes(`\r\n--${boundary}`) && !`\r\n${preamble}`.includes(`\r\n--${boundary}`))
          // Skips files whose end forms a delimiter together with the bytes that follow.
          const body = bodyOf(boundary, file, preamble)
          fc.pre(
            body.indexOf(`\r\n--${boundary}`, body.indexOf('\r\n\r\n') + 2) ===
              body.lastIndexOf(`\r\n--${boundary}--`),
          )
          assert.deepEqual(await read(boundary, split(body, offsets)), file)
        },
      ),
      { numRuns: 2000 },
    )
  })

  const file = Buffer.from('\r\n--ab\r\n--aba\r\n-\r\r\n--')
  const body = bodyOf('abab', file, '')

  it('yields the same file byte by byte, and split at any byte', async () => {
    assert.deepEqual(await read('abab', split(body, [...body.keys()])), file)
    for (const at of body.keys()) assert.deepEqual(await read('abab', split(body, [at])), file, `${at}`)
  })

  it('is refused if it is truncated at any byte', async () => {
    const end = body.lastIndexOf('\r\n')
    for (let length = 0; length < end; length++)
      await assert.rejects(read('abab', [body.subarray(0, length)]), Refusal, `${length}`)
  })
})
