/** Proof of work: solved automatically on upload, and on the pass page for tools. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before } from 'node:test'
import { solve } from '../../../src/client/api/challenge.ts'
import { isSolved } from '../../../src/proof-of-work.ts'
import { type PassAnswer, SHAREX_PATH, SOLUTION_HEADER, UNCHALLENGED_UPLOADS } from '../../../src/protocol.ts'
import { at, hold } from '../support/fault-proxy.ts'
import { gif } from '../support/pictures.ts'
import { openSite, type Site, testsOn } from '../support/site.ts'
import { card, cardIn, cardsIn, choose } from '../support/steps.ts'

export function challengesSuite(site: () => Site): void {
  let busy: Site
  before(async () => {
    busy = await openSite({ CHALLENGE: 'on' }, site().browser)
  })
  after(() => busy?.close())
  const test = testsOn(() => busy)

  // The browser's own console message for the 403 that carries the challenge.
  const expected = /status of 403/
  test('solves a challenge automatically for the sixth picture', { expected }, async ({ page, proxy }) => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    const isSolverLoaded = () => requested.some((path) => /challenge-/.test(path))
    for (let index = 0; index <= UNCHALLENGED_UPLOADS; index++) {
      assert.equal(isSolverLoaded(), false, 'the solver loads on demand')
      await choose(page, [await gif(`${index}.gif`, 600 + index)])
      await cardsIn(page, 'done', index + 1)
    }
    assert.equal(isSolverLoaded(), true)

    const computed = Promise.withResolvers<void>()
    proxy.onOther = at('/api/challenge', hold(computed.promise))
    await choose(page, [await gif('next.gif', 610)])
    await card(page, 'next.gif').getByText('Preparing to upload').waitFor()
    computed.resolve()
    await cardIn(page, 'done', 'next.gif')
  })

  test('issues a pass that works with curl and ShareX, also on a second attempt', {
    path: null,
    expected: /^Failed to load resource: /,
  }, async ({ page, url }) => {
    // Solving a real pass challenge would take minutes on a shared machine, so Node solves it here with threads.
    const real = await passFrom(url)
    const easy = { token: 't', algorithm: 'PBKDF2-SHA-256', iterations: 1, bits: 1, answers: 2 }
    let tries = 0
    let isIssued = false
    await page.route('**/api/challenge?for=pass', (route) =>
      tries++ === 0 ? route.abort() : route.fulfill({ json: easy }),
    )
    await page.route('**/api/pass', async (route) => {
      const [token, counters] = (await route.request().headerValue(SOLUTION_HEADER))!.split(':')
      const isRight =
        token === 't' && (await isSolved(easy, counters!.split(',').map(Number), async () => true))
      isIssued = isRight
      await route.fulfill(isRight ? { status: 201, json: real } : { status: 403 })
    })
    // Hidden once there is a pass.
    await page.route(`**${SHAREX_PATH}`, (route) => (isIssued ? route.abort() : route.continue()))
    await page.goto(`${url}/pass`)
    await page.getByRole('button', { name: 'Get a pass' }).press('Enter')
    await page.locator('#problem').filter({ hasText: /./ }).waitFor()
    // The button still has focus.
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Here is your pass.' }).waitFor()
    const pass = await page.locator('#pass').inputValue()
    const header = `Bearer ${pass}`
    const curl = await page.locator('#curl').inputValue()
    assert.ok(curl.includes(`-H 'Authorization: ${header}'`) && curl.endsWith(`${url}/api/upload`), curl)
    const download = page.waitForEvent('download')
    await page.locator('#sharex').click()
    const config = JSON.parse(await readFile(await (await download).path(), 'utf8'))
    assert.equal(config.Headers.Authorization, header)
    const send = async (headers: Record<string, string>) => {
      const form = new FormData()
      const { buffer } = await gif('by-tool.gif', 699)
      form.set('file', new Blob([new Uint8Array(buffer)]), 'by-tool.gif')
      return (await fetch(config.RequestURL, { method: config.RequestMethod, body: form, headers })).status
    }
    assert.equal(await send(config.Headers), 201)
    assert.equal(await send({}), 403)
  })
}

async function passFrom(url: string): Promise<PassAnswer> {
  const challenge = await (await fetch(`${url}/api/challenge?for=pass`)).json()
  const headers = { [SOLUTION_HEADER]: await solve(challenge) }
  const answer = await fetch(`${url}/api/pass`, { method: 'POST', headers })
  assert.equal(answer.status, 201)
  return answer.json()
}
