/** Cases over a bare socket, for hosts that have no other server in front. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { request } from '../../support/http.ts'
import { type Conversation, converse } from '../../support/socket.ts'
import { type Visitor, visit, type World } from './host.ts'

export type BareCase = (name: string, run: (talk: Conversation, me: Visitor) => Promise<void>) => void

/** After each case the host must still serve. */
export function bareOn(world: World): BareCase {
  return (name, run) => {
    it(name, async (t: TestContext) => {
      const me = await visit(world, world.main)
      if (!me.host.direct) return t.skip('does not apply: another server stands before this host')
      const talk = await converse(me.host.url)
      try {
        await run(talk, me)
      } finally {
        talk.close()
      }
      assert.equal((await request(me.host.url, 'GET', '/healthz')).status, 200, 'it still serves')
    })
  }
}
