/** Contract of `src/cdn/cdn.ts`. Every provider runs it against a fake of its API. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Cdn } from '../../src/cdn/cdn.ts'
import { RemoteFailure } from '../../src/errors.ts'
import {
  type Asked,
  type FakeProvider,
  type Script,
  startFakeProvider,
} from '../support/processes/fake-provider.ts'

export interface ProviderCase {
  name: string
  /** The provider's client, with its API at `host`. */
  open(host: string): Cdn
  /** The API's response to a successful request. */
  success(asked: Asked): Script
  /** Failures that look like a success. */
  lies: Record<string, Script>
  /** Every id that a request purges. */
  idsIn(asked: Asked): string[]
  /** Headers by which the provider finds an image and learns its lifetime. */
  headers: Record<string, string>
}

const IDS = ['aaaaaaaaaaa', 'AAAAAAAAAAA', '0123456789z']

export function cdnContract({ name, open, success, lies, idsIn, headers }: ProviderCase): void {
  describe(`cdn: ${name}`, () => {
    let provider: FakeProvider
    let cdn: Cdn
    before(async () => {
      provider = await startFakeProvider()
      cdn = open(provider.host)
    })
    beforeEach(() => {
      provider.asked.length = 0
    })
    after(() => provider.stop())

    const failsWith = async (script: Script): Promise<RemoteFailure> => {
      provider.answer(script)
      const error = await cdn.purge(IDS).then(
        () => assert.fail('the purge succeeded'),
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof RemoteFailure, String(error))
      return error
    }

    it('purges exactly the given ids', async () => {
      provider.answer(success)
      await cdn.purge(IDS)
      assert.deepEqual([...new Set(provider.asked.flatMap(idsIn))].sort(), [...IDS].sort())
    })

    it('purges a full batch', async () => {
      provider.answer(success)
      const many = Array.from({ length: cdn.batchSize }, (_, i) => `id${i}`.padEnd(11, 'x'))
      await cdn.purge(many)
      assert.equal(new Set(provider.asked.flatMap(idsIn)).size, many.length)
    })

    for (const status of [400, 401, 403, 500, 502, 530]) {
      it(`fails on ${status}`, async () => {
        await failsWith({ status, body: '{"success":false}' })
      })
    }

    it('reports the Retry-After of a 429', async () => {
      const error = await failsWith({ status: 429, headers: { 'Retry-After': '7' } })
      assert.equal(error.retryAfterMs, 7000)
    })

    it('caps the Retry-After of a 503 at one hour', async () => {
      const error = await failsWith({ status: 503, headers: { 'Retry-After': '999999999' } })
      assert.equal(error.retryAfterMs, 3_600_000)
    })

    it('fails on a 429 without Retry-After', async () => {
      assert.equal((await failsWith({ status: 429 })).retryAfterMs, undefined)
    })

    it('does not follow redirects', async () => {
      await failsWith({ status: 302, headers: { Location: '/elsewhere' } })
      assert.ok(provider.asked.every(({ target }) => target !== '/elsewhere'))
    })

    it('fails on a truncated response', async () => {
      await failsWith('cut')
    })

    for (const [response, script] of Object.entries(lies)) {
      it(`fails on ${response}`, async () => {
        await failsWith(script)
      })
    }

    it('fails if the API is unreachable', async () => {
      const closed = await startFakeProvider()
      await closed.stop()
      await assert.rejects(open(closed.host).purge(IDS), RemoteFailure)
    })

    it('sets the cache headers for the image and its lifetime', () => {
      assert.deepEqual(cdn.cacheHeaders('aaaaaaaaaaa', 3600), headers)
    })
  })
}
