/** A disk and a ledger that fail under a running host: what each operation answers then. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { gif } from '../../support/images/tiny-images.ts'
import { visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const GIVEN = { category: 'other', text: 'This picture shows my garden without my leave.', goodFaith: true }
const PAGE = { Accept: 'text/html' }

export function brokenCases(world: World): void {
  const onBroken = visitsTo(world, world.broken)

  onBroken('says that it is unavailable, whatever is asked, while disk and ledger fail', async (me, t) => {
    if (me.host.isEdge) return t.skip('does not apply: there is no disk')
    if (me.host.isDiskSound) return t.skip('does not apply: its disk can’t be made to fail')
    const order = world.order
    // More than is kept in memory.
    const large = gif({ size: 9_000_000 })
    const { id, key } = await me.store(large)
    // Another one: of what was looked at, the file stays open.
    const report = { image: (await me.store()).link, ...GIVEN }
    const asked = await me.report(report)
    assert.equal(asked.status, 202, asked.text)
    const receipt = new URL(asked.json().receipt).pathname

    // While it comes, so large an image is in a file of this disk, wherever it goes then.
    await writeFile(order, 'open 0 ENOSPC')
    checkProblem(await me.upload(large), 507, 'storage-full')
    // A fault that no disk is known to have.
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
    const fields = { image: id, category: 'other', text: GIVEN.text, 'good-faith': 'yes' }
    checkPage(await me.submit('/report', fields, PAGE), 503)
    checkProblem(await me.submit('/report', fields), 503, 'unavailable')
    checkProblem(await me.report(report), 503, 'unavailable')
    checkProblem(await me.get(receipt), 503, 'unavailable')
    checkPage(await me.get('/transparency', PAGE), 503)
    assert.equal((await me.get('/readyz')).status, 503)
  })
}
