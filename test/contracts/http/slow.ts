/** Requests that arrive too slowly, on a host with short timeouts. */
import { setTimeout as sleep } from 'node:timers/promises'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { type Conversation, converse } from '../../support/socket.ts'
import { untilSome } from '../../support/until.ts'
import { needsDirect, uploadHead, type Visitor, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const FORM = 'application/x-www-form-urlencoded'

export function slowCases(world: World): void {
  const directOnHasty = visitsTo(world, world.hasty, needsDirect)

  const upload = formOf(gif({ size: 100_000 }))
  const slow: Record<string, { path: string; type: string; body: Uint8Array }> = {
    'an upload': { path: '/api/upload', type: upload.contentType, body: upload.body },
    'an upload through the share target': { path: '/share', type: upload.contentType, body: upload.body },
    'the deletion form': { path: '/delete', type: FORM, body: Buffer.alloc(900, 'a') },
    'the report form': { path: '/report', type: FORM, body: Buffer.alloc(4000, 'a') },
    'a report': { path: '/api/report', type: 'application/json', body: Buffer.alloc(4000, ' ') },
  }
  for (const [name, { path, type, body }] of Object.entries(slow)) {
    directOnHasty(`returns 408 for ${name} that arrives too slowly`, async (me, t) => {
      const head = uploadHead(me, `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`, path)
      // On a busy machine, a connection may time out before its headers are sent.
      const talk = await untilSome('the headers are sent in time', async () => {
        const one = await converse(me.host.url)
        t.after(() => one.close())
        return one.write(head).then(
          () => one,
          () => undefined,
        )
      })
      await check408(me, talk, { method: 'POST', path, bytes: body })
    })
  }

  directOnHasty('returns 408 for headers that arrive too slowly', async (me, t) => {
    const talk = await converse(me.host.url)
    t.after(() => talk.close())
    await talk.write('GET / HTTP/1.1\r\n')
    await check408(me, talk, { method: 'GET', path: '/', bytes: Buffer.from('X: y\r\n'.repeat(2000)) })
  })
}

/** Sends byte by byte until a response arrives, which must be 408. */
async function check408(
  me: Visitor,
  talk: Conversation,
  { method, path, bytes }: { method: string; path: string; bytes: Uint8Array },
): Promise<void> {
  let isAnswered = false
  const answer = talk.answer().finally(() => {
    isAnswered = true
  })
  for (const byte of bytes) {
    if (isAnswered || talk.socket.destroyed) break
    await talk.write(Buffer.of(byte)).catch(() => {})
    await sleep(20)
  }
  const refusal = await answer
  me.check(refusal, { method, path })
  if (path === '/delete') checkPage(refusal, 408)
  else checkProblem(refusal, 408, 'too-slow')
}
