/** Contract of `src/notify/notifier.ts`. Every notification channel runs it against a real receiver. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { RemoteFailure } from '../../src/errors.ts'
import type { Notice, Notifier } from '../../src/notify/notifier.ts'

/** A received notification, in the terms of a notice. */
export interface Received {
  id: string | null
  title: string
  text: string
  link: string | null
  isUrgent: boolean
}

export interface Receiver {
  /** host:port */
  readonly host: string
  readonly received: Received[]
  /** From now on: accepts notifications, rejects them, or does not respond. */
  be(mood: 'willing' | 'refusing' | 'broken'): void
  stop(): Promise<void>
}

const notice = (more: Partial<Notice> = {}): Notice => ({
  id: 'notice-17',
  kind: 'case.new',
  isUrgent: false,
  at: Date.UTC(2030, 0, 1),
  title: 'Ein Fall — 3 Meldungen',
  text: '3 reports of one image: copyright.\nOldest: 2 h.',
  link: 'http://127.0.0.1:3001/operator/cases/17',
  ...more,
})

export function notifierContract(
  name: string,
  start: () => Promise<Receiver>,
  open: (host: string) => Notifier,
) {
  describe(`notify: ${name}`, () => {
    let receiver: Receiver
    let notifier: Notifier
    before(async () => {
      receiver = await start()
      notifier = open(receiver.host)
    })
    beforeEach(() => {
      receiver.received.length = 0
      receiver.be('willing')
    })
    after(() => receiver.stop())

    const failure = async (delivery: Promise<void>) => {
      const error = await delivery.then(
        () => assert.fail('the delivery succeeded'),
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof RemoteFailure, String(error))
      return error
    }

    it('delivers every field of a notice, including non-ASCII text', async () => {
      await notifier.deliver(notice())
      const [first] = receiver.received
      assert.equal(first?.title, notice().title)
      assert.ok(first?.text.startsWith(notice().text), first?.text)
      assert.equal(first?.link, notice().link)
      assert.equal(first?.isUrgent, false)
    })

    it('delivers an urgent notice as urgent, and a notice without a link', async () => {
      await notifier.deliver(notice({ isUrgent: true, link: null }))
      assert.equal(receiver.received[0]?.isUrgent, true)
      assert.equal(receiver.received[0]?.link, null)
    })

    it('uses the same ID for every attempt to deliver a notice', async () => {
      await notifier.deliver(notice())
      await notifier.deliver(notice())
      await notifier.deliver(notice({ id: 'notice-18' }))
      const ids = receiver.received.map(({ id }) => id)
      assert.equal(ids[0], ids[1])
      // ntfy does not support IDs set by the sender.
      if (ids[0] !== null) assert.notEqual(ids[1], ids[2])
    })

    for (const mood of ['refusing', 'broken'] as const) {
      it(`fails while the receiver is ${mood}, and delivers the next notice`, async () => {
        receiver.be(mood)
        await failure(notifier.deliver(notice()))
        receiver.be('willing')
        await notifier.deliver(notice())
        assert.equal(receiver.received.length, 1)
      })
    }

    it('fails if the receiver is down, without revealing secrets', async () => {
      const stopped = await start()
      await stopped.stop()
      const error = await failure(open(stopped.host).deliver(notice()))
      assert.doesNotMatch(`${error.message} ${error.cause} ${notifier.name}`, /hunter|whsec/)
    })
  })
}
