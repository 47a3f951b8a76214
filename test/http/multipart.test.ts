/** The file of a form comes out whole, wherever the network cut the body. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { filePart } from '../../src/http/multipart.ts'
import { multipart } from '../support/multipart.ts'

/** Short, so that bytes of a file often look like the beginning of a delimiter. */
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

function cut(body: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (body.length + 1))), body.length].sort(
    (a, b) => a - b,
  )
  // Copies: a piece's memory is its owner's again when it was read.
  return ends.map((end, nth) => Buffer.from(body.subarray(nth === 0 ? 0 : ends[nth - 1], end)))
}

async function read(boundary: string, pieces: Buffer[]): Promise<Buffer> {
  const found: Buffer[] = []
  for await (const piece of filePart(`multipart/form-data; boundary=${boundary}`, Readable.from(pieces))) {
    found.push(Buffer.from(piece))
  }
  return Buffer.concat(found)
}

describe('a form that comes in pieces', () => {
  it('gives the same file however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        boundary,
        bytes,
        fc.constantFrom('', '\r\n', 'preamble\r\n', '--\r\n'),
        fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
        async (boundary, file, preamble, places) => {
          fc.pre(!file.includes(`\r\n--${boundary}`) && !`\r\n${preamble}`.includes(`\r\n--${boundary}`))
          // What of the file looks like a delimiter only together with what follows it is one.
          const body = bodyOf(boundary, file, preamble)
          fc.pre(
            body.indexOf(`\r\n--${boundary}`, body.indexOf('\r\n\r\n') + 2) ===
              body.lastIndexOf(`\r\n--${boundary}--`),
          )
          assert.deepEqual(await read(boundary, cut(body, places)), file)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('gives the same file byte by byte', async () => {
    const file = Buffer.from('\r\n--ab\r\n--aba\r\n-\r\r\n--')
    const body = bodyOf('abab', file, '')
    assert.deepEqual(await read('abab', cut(body, [...body.keys()])), file)
  })
})
