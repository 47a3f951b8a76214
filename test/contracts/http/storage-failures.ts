/** Responses of every operation while the disk and the ledger of a running host fail. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { gif } from '../../support/images/tiny-images.ts'
import { visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const REPORT = { category: 'other', text: 'This picture shows my garden without my leave.', goodFaith: true }
const PAGE = { Accept: 'text/html' }

export function storageFailureCases(world: World): void {
  const onBroken = visitsTo(world, world.broken)

  onBroken(
    'returns 503, 507 or 500 from every operation while the disk and the ledger fail',
    async (me, t) => {
      if (me.host.isEdge) return t.skip('does not apply: there is no disk')
      if (me.host.isDiskSound) return t.skip('does not apply: disk faults cannot be injected')
      const order = world.order
      // Too large for the memory cache.
      const large = gif({ size: 9_000_000 })
      const { id, key } = await me.store(large)
      // Another image, because the file of one that was viewed stays open.
      const report = { image: (await me.store()).link, ...REPORT }
      const filed = await me.report(report)
      assert.equal(filed.status, 202, filed.text)
      const receipt = new URL(filed.json().receipt).pathname

      // While it is received, an upload this large is in a file on this disk, wherever it is stored later.
      await writeFile(order, 'open 0 ENOSPC')
      checkProblem(await me.upload(large), 507, 'storage-full')
      // An error that no disk produces.
      await writeFile(order, 'open 0 EDOM')
      checkProblem(await me.upload(large), 500, 'internal-error')
      await writeFile(order, 'open 0 EIO')
      await me.host.breakDown()
      checkProblem(await me.upload(gif()), 503, 'unavailable')

      checkProblem(await me.get(`/raw/${id}`), 503, 'unavailable')
      assert.equal((await me.request('HEAD', `/raw/${id}`)).status, 503)
      checkProblem(await me.get(`/preview/${id}`), 503, 'unavailable')
      assert.equal((await me.request('HEAD', `/preview/${id}`)).status, 503)
      checkPage(await me.get(`/${id}`, PAGE), 503)
      checkProblem(await me.get(`/oembed?url=${me.host.baseUrl}/${id}`), 503, 'unavailable')
      checkProblem(await me.remove(key), 503, 'unavailable')
      checkPage(await me.get(`/api/delete?key=${key}`, PAGE), 503)
      checkPage(await me.submit('/delete', { key }, PAGE), 503)
      checkPage(await me.get(`/report?id=${id}`, PAGE), 503)
      const fields = { image: id, category: 'other', text: REPORT.text, 'good-faith': 'yes' }
      checkPage(await me.submit('/report', fields, PAGE), 503)
      checkProblem(await me.submit('/report', fields), 503, 'unavailable')
      checkProblem(await me.report(report), 503, 'unavailable')
      checkProblem(await me.get(receipt), 503, 'unavailable')
      checkPage(await me.get('/transparency', PAGE), 503)
      assert.equal((await me.get('/readyz')).status, 503)
    },
  )
}
