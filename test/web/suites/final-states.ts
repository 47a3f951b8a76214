/** Final states of an upload: the card's message, and what the page offers after a reload. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { at, type Fault, NEVER, NONE, refused } from '../support/fault-proxy.ts'
import { type ChosenFile, gif, photo, photoWithPlace } from '../support/pictures.ts'
import { type Site, testsOn, type Visit } from '../support/site.ts'
import {
  card,
  cardIn,
  cardsResume,
  choose,
  deleteRow,
  heard,
  idOf,
  keptFiles,
  openDevice,
  passTime,
  press,
  remembered,
  row,
  textOf,
} from '../support/steps.ts'

interface State {
  name: string
  file?: () => Promise<ChosenFile>
  /** Server settings. Default: the shared server's. */
  env?: Record<string, string>
  /** Fault for the upload. Default: none. */
  upload?: Fault
  /** Fault for other requests. */
  other?: (path: string) => Fault
  before?(page: Page): Promise<void>
  /** Brings the card to the state after the file is chosen. */
  reach?(page: Page, name: string, site: VisitedSite): Promise<void>
  /** The card's message. `null`: no card. */
  said: RegExp | null
  /** True if the card offers a retry. */
  again?: boolean
  /** The picture after a reload: offered again, in the history, or gone. */
  later: 'offered' | 'earlier' | 'nowhere'
}

async function file(name: string, mimeType: string, content: string): Promise<ChosenFile> {
  return { name, mimeType, buffer: Buffer.from(content, 'latin1') }
}

async function uploaded(page: Page, name: string): Promise<string> {
  return idOf(await cardIn(page, 'done', name))
}

/** Failed for now, and retried automatically. */
const RESUMING: Pick<State, 'before' | 'reach' | 'said' | 'again' | 'later'> = {
  before: (page) => page.clock.install(),
  reach: (page) => cardsResume(page, 1),
  said: /^Retrying in \d+\ss$/,
  again: true,
  later: 'offered',
}

const STATES: State[] = [
  {
    name: 'compressing',
    file: () => photo('compressing.jpg'),
    other: at('worker', NEVER),
    said: /^Compressing, step 1 of 3/,
    later: 'offered',
  },
  {
    name: 'asking about its location',
    file: () => photoWithPlace(),
    env: { STRIP_METADATA: 'off' },
    before: (page) => page.getByLabel('Original').check(),
    said: /location where it was taken/,
    later: 'offered',
  },
  {
    name: 'uploading',
    upload: NEVER,
    said: /^(Preparing to upload|Uploading, \d+%|Almost done)$/,
    later: 'offered',
  },
  {
    name: 'waiting for a retry',
    upload: { kind: 'answer', status: 503, headers: { 'Retry-After': '20' } },
    said: /^Retrying in \d+\ss$/,
    later: 'offered',
  },
  {
    // Stored on the server, but the client can't know.
    name: 'response lost',
    upload: { kind: 'lose-answer' },
    said: /^Retrying in/,
    later: 'offered',
  },
  { ...RESUMING, name: 'server unreachable', upload: { kind: 'cut' } },
  {
    ...RESUMING,
    name: 'proxy error for an unreachable server',
    upload: { kind: 'answer', status: 502, body: '<h1>Bad gateway</h1>' },
  },
  // Refusals by the service, permanent or temporary.
  ...(
    [
      ['unsupported-type', 415, /file type isn’t supported/, false],
      ['damaged-image', 422, /This picture is damaged\. Please try another copy\./, false],
      ['blocked-image', 403, /has blocked it/, false],
      ['file-too-large', 413, /limit is|can be up to/, false],
      ['too-many-refusals', 429, /^Too many uploads failed today\..* after midnight UTC/, true],
      ['cross-site', 403, /^This request came from another site\..* form on this page/, true],
      ['quota-exceeded', 429, /^You’ve reached today’s upload limit\. After .* you can upload again\./, true],
      ['network-quota-exceeded', 429, /^Your network has .* Uploads by others on your network/, true],
      ['uploads-paused', 503, /^Uploads are paused\./, true],
      ['storage-full', 507, /^Storage is full\./, true],
      ['challenge-required', 403, /^This connection .* takes a short computation in your browser/, true],
    ] as const
  ).map(
    ([error, status, said, canRetry]): State => ({
      name: `refused: ${error}`,
      upload: refused(status, error),
      said,
      again: canRetry,
      later: canRetry ? 'offered' : 'nowhere',
    }),
  ),
  // Errors detected by the page itself.
  {
    name: 'a text file',
    file: () => file('notes.txt', 'text/plain', 'Only words.\n'.repeat(50)),
    said: /^This is a document/,
    again: false,
    later: 'nowhere',
  },
  {
    name: 'an empty file',
    file: () => file('empty.png', 'image/png', ''),
    said: /is empty/,
    again: false,
    later: 'nowhere',
  },
  // User actions.
  {
    name: 'cancelled',
    upload: NEVER,
    async reach(page, name) {
      await press(await cardIn(page, 'uploading', name), 'cancel')
    },
    said: /^Cancelled$/,
    again: true,
    later: 'nowhere',
  },
  {
    name: 'cancelled and restarted',
    upload: NEVER,
    async reach(page, name) {
      await press(await cardIn(page, 'uploading', name), 'cancel')
      await keptFiles(page, 0)
      await press(card(page, name), 'retry')
      await cardIn(page, 'uploading', name)
    },
    said: /^(Preparing to upload|Uploading, \d+%|Almost done)$/,
    later: 'offered',
  },
  {
    name: 'failed and removed from the list',
    upload: refused(429, 'too-many-refusals'),
    reach: async (page, name) => press(await cardIn(page, 'failed', name), 'dismiss'),
    said: null,
    later: 'nowhere',
  },
  { name: 'uploaded', said: /^GIF .*, unchanged$/, later: 'earlier' },
  {
    name: 'uploaded without being remembered',
    async before(page) {
      await openDevice(page)
      await page.locator('#remember').uncheck()
    },
    said: /unchanged/,
    later: 'nowhere',
  },
  {
    // The uploader may delete it before a decision. Its bytes then stay blocked for uploads.
    name: 'held for review',
    file: () => gif('held.gif', 691),
    async reach(page, name, { server }) {
      const { code, stderr } = await server.operator(['hold', await uploaded(page, name), '--reason', 'x'])
      assert.equal(code, 0, stderr)
    },
    said: /unchanged/,
    later: 'earlier',
  },
]

export function finalStatesSuite(site: () => Site): void {
  const test = testsOn(site)
  const faulty = testsOn(site, { expected: /^Failed to load resource: / })
  for (const state of STATES) {
    const { env, name } = state
    const expected = /^Failed to load resource: |status of 404/
    test(`shows the right message now and after a reload: ${name}`, { env, expected }, (visit) =>
      check(visit, state),
    )
  }

  faulty('keeps files that the daily quota does not allow', async ({ page, proxy }) => {
    await leaveUnsent(page, site())
    proxy.onOther = (path) =>
      path === '/api/upload'
        ? { kind: 'answer', status: 204, headers: { 'X-RateLimit-Remaining': '0' } }
        : NONE
    await page.reload()
    await page.locator('html[data-full]').waitFor()
    await page.click('#offer-send')
    await heard(page, /you can upload again/)
    assert.equal(await page.locator('#offer').isVisible(), true)
    await keptFiles(page, 1)
    await page.click('#offer-discard')
    await keptFiles(page, 0)
  })

  test('copies files only if they wait for long, or once the page is hidden', {
    beforeScripts: () => {
      // Not on the blank page before.
      if (!('Cache' in globalThis)) return
      const { setTimeout } = globalThis
      const state = Object.assign(globalThis, { copies: 0 })
      const put = Cache.prototype.put
      Cache.prototype.put = function (...values) {
        state.copies++
        return put.apply(this, values)
      }
      // Time does not pass: no file waits for long.
      globalThis.setTimeout = ((work: () => void, milliseconds = 0) =>
        milliseconds === 3000 ? 0 : setTimeout(work, milliseconds)) as typeof globalThis.setTimeout
    },
  }, async ({ page, proxy }) => {
    const copies = () => page.evaluate(() => (globalThis as unknown as { copies: number }).copies)
    await choose(page, [await gif('soon.gif', 76)])
    await cardIn(page, 'done', 'soon.gif')
    proxy.onUpload = () => NEVER
    await choose(page, [await gif('waits.gif', 77)])
    await cardIn(page, 'uploading', 'waits.gif')
    assert.equal(await copies(), 0)
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    })
    await keptFiles(page, 1)
    proxy.onUpload = () => NONE
  })

  test('releases its lock on unsent files when it is closed', async ({ page, proxy }) => {
    await leaveUnsent(page, site())
    const locks = () =>
      page.evaluate(async () => (await navigator.locks.query()).held?.map(({ name }) => name?.split('-')[0]))
    assert.deepEqual(await locks(), ['unsent'])
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')))
    assert.deepEqual(await locks(), [])
    await choose(page, [await gif('later.gif', 75)])
    await keptFiles(page, 2)
    assert.deepEqual(await locks(), ['unsent'], 'restored with files still to send')
    await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pagehide'))
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    })
    await page.getByRole('heading', { name: '2 uploads didn’t finish', exact: true }).waitFor()
    await page.click('#offer-discard')
    await keptFiles(page, 0)
    proxy.onUpload = () => NONE
  })

  test('offers unsent files as soon as the page that left them releases its lock', async ({
    page,
    proxy,
  }) => {
    await leaveUnsent(page, site())
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.locator('html[data-live]').waitFor()
    const pending = async () => (await navigator.locks.query()).pending?.length === 1
    await until('waiting for the lock', () => other.evaluate(pending))
    assert.equal(await other.locator('#offer').isVisible(), false)
    await other.focus('#file')
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')))
    await other.getByRole('heading', { name: '1 upload didn’t finish', exact: true }).waitFor()
    assert.equal(await other.evaluate(() => document.activeElement?.id), 'file', 'focus is not moved')
    await heard(other, /^1 upload didn’t finish$/)
    await other.click('#offer-discard')
    await keptFiles(page, 0)
    await other.close()
    proxy.onUpload = () => NONE
  })

  faulty('does not promise to retry a failed deletion', async ({ page, proxy }) => {
    await choose(page, [await gif('stays.gif', 73)])
    await uploaded(page, 'stays.gif')
    await page.reload()
    await row(page, 'stays.gif').waitFor()
    await page.clock.install()
    proxy.onOther = at('/api/delete', { kind: 'cut' })
    await deleteRow(row(page, 'stays.gif'))
    const said = row(page, 'stays.gif').locator('.card-state')
    await passTime(page, async () => /^Not deleted/.test(await textOf(said)))
    assert.equal(await said.textContent(), 'Not deleted. Couldn’t reach the service.')
    assert.equal(await remembered(page), 1, 'its key is kept')
  })
}

type VisitedSite = Pick<Visit, 'page'> & Pick<Site, 'url' | 'proxy' | 'server'>

async function check(site: VisitedSite, state: State): Promise<void> {
  const { upload = NONE, other = () => NONE } = state
  const { page, proxy } = site
  const chosen = await (state.file?.() ?? gif('picture.gif', 71))
  await state.before?.(page)
  proxy.onUpload = () => upload
  proxy.onOther = other
  await choose(page, [chosen])
  await state.reach?.(page, chosen.name, site)
  const found = card(page, chosen.name)
  if (state.said === null) assert.equal(await found.count(), 0)
  else await found.locator('.card-state').filter({ hasText: state.said }).waitFor()
  if (state.again !== undefined) {
    assert.equal(await found.locator('[data-action="retry"]').isVisible(), state.again)
  }
  await keptFiles(page, state.later === 'offered' ? 1 : 0)

  proxy.onUpload = proxy.onOther = () => NONE
  await page.reload()
  if (state.later === 'offered') {
    await page.getByRole('heading', { name: '1 upload didn’t finish', exact: true }).waitFor()
    assert.match(await textOf(page.locator('#offer-files')), new RegExp(chosen.name))
  } else if (state.later === 'earlier') {
    await row(page, chosen.name).waitFor()
  }
  await page.locator('html[data-live]').waitFor()
  await page.waitForLoadState('networkidle')
  assert.equal(await page.locator('#offer').isVisible(), state.later === 'offered')
  assert.equal(await remembered(page), state.later === 'earlier' ? 1 : 0)
  assert.equal(await page.locator('.row').count(), state.later === 'earlier' ? 1 : 0)
  assert.equal(await page.locator('#status').textContent(), '')
}

async function leaveUnsent(page: Page, { proxy }: Site): Promise<void> {
  proxy.onUpload = () => NEVER
  await choose(page, [await gif('unsent.gif', 74)])
  await cardIn(page, 'uploading', 'unsent.gif')
  await keptFiles(page, 1)
}
