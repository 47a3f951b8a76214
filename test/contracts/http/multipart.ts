/** Well-formed upload forms in unusual notations and chunkings. */
import assert from 'node:assert/strict'
import { gif } from '../../support/images/tiny-images.ts'
import { type FormOptions, formOf, multipart, type Part } from '../../support/multipart.ts'
import { type Visitor, visitsTo, type World } from './host.ts'
import { checkProblem } from './rules.ts'

const FILE: Omit<Part, 'body'> = { name: 'file', filename: 'a.gif', type: 'image/gif' }

export function multipartCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  const wellFormed: Record<string, { part?: Partial<Part>; form?: FormOptions }> = {
    'a preamble': { form: { preamble: 'This is a message in MIME format.\r\n' } },
    'an epilogue': { form: { epilogue: 'and this is after it\r\n' } },
    'an epilogue that looks like a part': {
      form: { epilogue: '--pinhole-test-boundary\r\nContent-Disposition: form-data; name="x"\r\n\r\nx\r\n' },
    },
    'a boundary of 70 characters': { form: { boundary: 'b'.repeat(70) } },
    'a boundary of one character': { form: { boundary: 'b' } },
    'a boundary of dashes': { form: { boundary: '------' } },
    'a quoted boundary of every character allowed': {
      form: { boundary: "a'()+_,-./:=? z", parameter: `"a'()+_,-./:=? z"` },
    },
    'a quoted boundary with escapes': { form: { boundary: 'ab', parameter: '"\\a\\b"' } },
    'parameters around the boundary': {
      form: { parameter: 'pinhole-test-boundary; charset=utf-8; __proto__=x' },
    },
    'no filename': { part: { filename: undefined } },
    'no type': { part: { type: undefined } },
    'an unquoted name': { part: { lines: ['Content-Disposition: form-data; name=file; filename=a.gif'] } },
    'headers in lower case': { part: { lines: ['content-disposition: FORM-DATA; NAME="file"'] } },
    'headers without a space': {
      part: { lines: ['Content-Disposition:form-data;name="file";filename="a"'] },
    },
    'more headers': {
      part: {
        lines: [
          'X-Note: ignored',
          'Content-Disposition: form-data; name="file"; filename="a.gif"',
          'Content-Transfer-Encoding: binary',
          'Content-Length: 5',
        ],
      },
    },
    'a header named __proto__': {
      part: {
        lines: [
          '__proto__: x',
          'Content-Disposition: form-data; name="file"',
          'constructor: y',
          'toString: z',
        ],
      },
    },
    'a Unicode filename': {
      part: { filename: 'スクリーンショット 10.30\u202fPM – Снимок 🙂 é.gif' },
    },
    'a filename with a backslash, a quote and a semicolon': {
      part: { lines: ['Content-Disposition: form-data; name="file"; filename="C:\\\\a; b=\\".gif"'] },
    },
    'an empty parameter': { form: { parameter: 'pinhole-test-boundary;' } },
    'a filename with escapes that looks like a name': {
      part: { lines: ['Content-Disposition: form-data; name="file"; filename="a\\"; name=\\"other"'] },
    },
    'a filename before the name': {
      part: { lines: ['Content-Disposition: form-data; filename="x; name=other.gif"; name="file"'] },
    },
    'a filename with path traversal': { part: { filename: '../../../../etc/passwd' } },
    'a filename of 2,000 characters': { part: { filename: 'é'.repeat(1000) } },
    'a filename in invalid UTF-8': {
      part: { lines: ['Content-Disposition: form-data; name="file"; filename="\xff\xfe"'] },
    },
    'an empty filename': { part: { filename: '' } },
  }
  for (const [name, { part, form }] of Object.entries(wellFormed)) {
    onMain(`accepts ${name}`, async (me) => {
      const bytes = gif()
      await checkStored(me, multipart([{ ...FILE, body: bytes, ...part }], form), bytes)
    })
  }

  onMain('survives a malformed filename*, which RFC 7578 forbids anyway', async (me) => {
    for (const value of ["UTF-8''%", "UTF-8''%E0%A4%A", "''", 'x', "UTF-8'en", "nope''%41"]) {
      const lines = [`Content-Disposition: form-data; name="file"; filename="a.gif"; filename*=${value}`]
      const answer = await me.post(multipart([{ lines, body: gif() }]))
      if (answer.status !== 201) checkProblem(answer, 400, 'malformed-multipart')
    }
  })

  onMain('accepts a closing boundary without a line break', async (me) => {
    const bytes = gif()
    const { body, contentType } = formOf(bytes)
    await checkStored(me, { body: body.subarray(0, -2), contentType }, bytes)
  })

  onMain('parses the media type case-insensitively', async (me) => {
    const { body } = formOf(gif())
    const contentType = 'Multipart/FORM-Data;BOUNDARY="pinhole-test-boundary"'
    assert.equal((await me.post({ body, contentType })).status, 201)
  })

  onMain('keeps boundary look-alikes as part of the file', async (me) => {
    const comments = [
      '\r\n--pinhole-test-boundar',
      '--pinhole-test-boundary--\r',
      '\r\n\r\n',
      '\r\r\n--\r\n-',
      '\r\n--pinhole-test\r\n--pinhole-test-boun',
    ]
    for (const comment of comments) {
      const bytes = gif({ comment: comment.repeat(3) })
      await checkStored(me, formOf(bytes), bytes)
    }
  })

  // Some places: `test/http/multipart.test.ts` splits and truncates at every byte, without a server.
  onMain('parses a form that is split anywhere', async (me) => {
    const bytes = gif({ comment: '\r\n--pinhole' })
    const { body, contentType } = formOf(bytes)
    for (let at = 13; at < body.length; at += 13) {
      const answer = await me.request('POST', '/api/upload', {
        headers: { 'Content-Type': contentType },
        // Each piece is sent as a separate chunk, and reaches the parser as such.
        body: [body.subarray(0, at), body.subarray(at)],
      })
      assert.equal(answer.status, 201, `cut at ${at}: ${answer.text}`)
      assert.deepEqual((await me.get(`/raw/${answer.json().id}`)).body, bytes)
    }
  })

  onMain('parses a form that arrives byte by byte', async (me) => {
    const bytes = gif({ comment: '\r\n--pinhole' })
    const { body, contentType } = formOf(bytes)
    const answer = await me.request('POST', '/api/upload', {
      headers: { 'Content-Type': contentType },
      body: Array.from(body, (byte) => Buffer.of(byte)),
    })
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual((await me.get(`/raw/${answer.json().id}`)).body, bytes)
  })

  onMain('returns 400 unexpected-field for anything besides the file', async (me) => {
    const file: Part = { ...FILE, body: gif() }
    const extras: Part[] = [
      { name: 'title', body: 'Holiday' },
      { name: 'title', body: '' },
      { name: '', body: '' },
      { name: 'file', body: 'a text of the same name' },
      { name: 'file', filename: 'b.gif', type: 'image/gif', body: gif() },
      { name: 'file2', filename: 'b.gif', type: 'image/gif', body: gif() },
      { name: '__proto__', body: 'x' },
      { name: 'files[0][a]', body: 'x' },
    ]
    for (const extra of extras) {
      checkProblem(await me.post(multipart([file, extra])), 400, 'unexpected-field')
      const before = await me.post(multipart([extra, file]))
      // With two parts named `file`, the first may be refused because it is not an image.
      if (extra.name === 'file' && extra.filename === undefined) assert.ok([400, 415].includes(before.status))
      else checkProblem(before, 400, 'unexpected-field')
    }
    assert.equal(await me.remaining(), 100)
  })

  onMain('returns 400 missing-file for a form without a file or with an empty one', async (me) => {
    checkProblem(await me.post(multipart([])), 400, 'missing-file')
    checkProblem(await me.post(multipart([{ ...FILE, body: '' }])), 400, 'missing-file')
    checkProblem(await me.post(multipart([{ name: 'file', body: '' }])), 400, 'missing-file')
  })

  onMain('refuses a part with another name, even if only the case differs', async (me) => {
    for (const name of ['image', 'FILE', 'file ', 'file[]', 'constructor']) {
      // Both codes are correct: the part named `file` is missing, and there is an unexpected one.
      const answer = await me.post(multipart([{ ...FILE, name, body: gif() }]))
      checkProblem(answer, 400, /^(missing-file|unexpected-field)$/)
    }
  })
}

async function checkStored(me: Visitor, form: { body: Buffer; contentType: string }, bytes: Buffer) {
  const answer = await me.post(form)
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual((await me.get(`/raw/${answer.json().id}`)).body, bytes)
}
