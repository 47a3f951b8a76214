/** Bodies that are not a well-formed form. None may use up quota or memory, or crash the process. */
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf, multipart, type Part } from '../../support/multipart.ts'
import { visitsTo, type World } from './host.ts'
import { checkProblem } from './rules.ts'

export function malformedCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=pinhole-test-boundary',
    'multipart/form-datax; boundary=pinhole-test-boundary',
    'image/gif',
    'text/plain; x=multipart/form-data; boundary=pinhole-test-boundary',
    '',
    'multipart',
    ';',
  ]
  for (const type of types) {
    onMain(`returns 415 not-multipart for a body of type '${type}'`, async (me) => {
      checkProblem(await me.post({ body: formOf(gif()).body, contentType: type }), 415, 'not-multipart')
    })
  }

  onMain('returns 415 not-multipart for a body without a type', async (me) => {
    checkProblem(await me.request('POST', '/api/upload', { body: formOf(gif()).body }), 415, 'not-multipart')
    checkProblem(await me.request('POST', '/api/upload'), 415, 'not-multipart')
  })

  onMain('returns 400 malformed-multipart for a type without a usable boundary', async (me) => {
    const { body } = formOf(gif())
    for (const rest of ['', ';', '; boundary', '; boundary=', '; boundary=""', '; boundary="', '; x=y']) {
      const answer = await me.post({ body, contentType: `multipart/form-data${rest}` })
      checkProblem(answer, 400, 'malformed-multipart')
    }
  })

  onMain('survives a boundary longer than RFC 2046 allows', async (me) => {
    for (const length of [71, 500, 8000]) {
      const answer = await me.post(
        multipart([{ name: 'file', body: gif() }], { boundary: 'b'.repeat(length) }),
      )
      if (answer.status !== 201) checkProblem(answer, 400, 'malformed-multipart')
    }
  })

  onMain('refuses a form truncated anywhere', async (me) => {
    const { body, contentType } = formOf(gif({ comment: '\r\n--pinhole' }))
    const fileStart = body.indexOf('GIF89a')
    for (let length = 0; length < body.length - '\r\n'.length; length += 7) {
      const answer = await me.post({ body: body.subarray(0, length), contentType })
      // Before the file starts, `missing-file` is correct as well.
      const code = length > fileStart ? 'malformed-multipart' : /^(malformed-multipart|missing-file)$/
      checkProblem(answer, 400, code)
    }
    assert.equal(await me.remaining(), 100)
  })

  const broken: Record<string, Buffer | string> = {
    'another boundary': formOf(gif()).body.toString('latin1').replaceAll('pinhole', 'pinhale'),
    'lines that end in a bare LF': formOf(gif()).body.toString('latin1').replaceAll('\r\n', '\n'),
    'a part without headers': '--pinhole-test-boundary\r\n\r\nx\r\n--pinhole-test-boundary--\r\n',
    'only line breaks': '\r\n'.repeat(1000),
    'only zero bytes': Buffer.alloc(100_000),
    'a header without a colon': partOf(['Content-Disposition form-data; name="file"']),
    'a header line with a NUL': partOf(['Content-Disposition: form-data; name="file"\0']),
    'a part without Content-Disposition': partOf(['Content-Type: image/gif']),
    'a part without a name': partOf(['Content-Disposition: form-data; filename="a.gif"']),
    'another disposition': partOf(['Content-Disposition: attachment; name="file"; filename="a.gif"']),
    'two names': partOf(['Content-Disposition: form-data; name="file"; name="other"']),
    'an unfinished quoted name': partOf(['Content-Disposition: form-data; name="file']),
  }
  for (const [name, body] of Object.entries(broken)) {
    onMain(`returns 400 for ${name}`, async (me) => {
      const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body
      const answer = await me.post({
        body: bytes,
        contentType: 'multipart/form-data; boundary=pinhole-test-boundary',
      })
      checkProblem(answer, 400, /^(malformed-multipart|missing-file|unexpected-field)$/)
    })
  }

  onMain('returns 400 malformed-multipart for oversized part headers', async (me) => {
    const disposition = 'Content-Disposition: form-data; name="file"; filename="a.gif"'
    const oversized: Part['lines'][] = [
      [disposition, `X-Long: ${'x'.repeat(100_000)}`],
      [disposition, ...Array.from({ length: 5000 }, (_, i) => `X-${i}: y`)],
      [`Content-Disposition: form-data; name="file"; filename="${'x'.repeat(100_000)}"`],
      [`${'x'.repeat(5_000_000)}`],
    ]
    for (const lines of oversized) {
      const form = multipart([{ lines, body: gif() }])
      checkProblem(await me.post(form), 400, 'malformed-multipart')
    }
  })

  onMain('refuses a form with a hundred thousand parts', async (me) => {
    const part = '--pinhole-test-boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    const body = Buffer.from(`${part.repeat(100_000)}--pinhole-test-boundary--\r\n`)
    const contentType = 'multipart/form-data; boundary=pinhole-test-boundary'
    checkProblem(await me.post({ body, contentType }), 400, /^(unexpected-field|missing-file)$/)
  })

  onMain('refuses a compressed body without decompressing it', async (me) => {
    const { body, contentType } = formOf(gif())
    const answer = await me.post({ body: gzipSync(body), contentType }, { 'Content-Encoding': 'gzip' })
    checkProblem(answer, answer.status, /^(not-multipart|malformed-multipart)$/)
    assert.ok([400, 415].includes(answer.status))
  })
}

/** A form of one part with the given header lines and a valid image. */
function partOf(lines: string[]): Buffer {
  return multipart([{ lines, body: gif() }]).body
}
