/** What tests do and look at on the home page. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { type Fault, type FaultProxy, NONE } from './fault-proxy.ts'
import type { ChosenFile } from './pictures.ts'

export function card(page: Page, name: string): Locator {
  return page.locator('.card', { has: page.getByRole('heading', { name, exact: true }) })
}

/** The card of `name` once it is in `state`. */
export async function cardIn(page: Page, state: string, name: string): Promise<Locator> {
  const found = page.locator(`.card[data-state="${state}"]`, {
    has: page.getByRole('heading', { name, exact: true }),
  })
  await found.waitFor()
  return found
}

export function press(card: Locator, action: string): Promise<void> {
  return card.locator(`[data-action="${action}"]`).click()
}

export function choose(page: Page, files: ChosenFile[]): Promise<void> {
  return page.setInputFiles('#file', files)
}

/** Waits until so many cards are in `state`. */
export function cardsIn(page: Page, state: string, count: number): Promise<unknown> {
  return page.waitForFunction(
    ([state, count]) => document.querySelectorAll(`.card[data-state="${state}"]`).length === count,
    [state, count] as const,
  )
}

/** By the page's clock from here on: uploads end by `upload`, and no look finds the service back, however slowly the test goes. */
export async function takeServiceAway(
  page: Page,
  { proxy }: { proxy: FaultProxy },
  upload: Fault = { kind: 'cut' },
): Promise<void> {
  await page.clock.install()
  proxy.onUpload = () => upload
  proxy.onOther = (path) => (path === '/api/upload' ? { kind: 'answer', status: 502 } : NONE)
}

/** Lets the page's time pass until so many cards wait for a service that is away. */
export function cardsResume(page: Page, count: number): Promise<void> {
  return passTime(page, async () => (await page.locator('.card[data-state="resuming"]').count()) === count)
}

/** Uploads one picture and gives its id. */
export async function uploadOne(page: Page, file: ChosenFile): Promise<string> {
  await choose(page, [file])
  const done = await cardIn(page, 'done', file.name)
  return idOf(done)
}

export async function idOf(done: Locator): Promise<string> {
  const link = await done.locator('.card-link input').inputValue()
  return link.split('/').at(-1)!
}

/** The ids of all that is uploaded, in order. */
export async function idsOf(page: Page): Promise<string[]> {
  const links = await page
    .locator('.card-link input')
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))
  return links.map((link) => link.split('/').at(-1)!)
}

export async function textOf(part: Locator): Promise<string> {
  return (await part.textContent()) ?? ''
}

/** What was copied. */
export function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}

/** What the one live region says next, or says now. */
export async function heard(page: Page, words: RegExp): Promise<void> {
  await page.locator('#status').filter({ hasText: words }).waitFor()
}

/** Presses what stands in the menu of a card or row. */
export async function pressInMenu(of: Locator, action: string): Promise<void> {
  await press(of, 'more')
  await of.page().locator(`#menu [data-action="${action}"]`).click()
}

/** The row of an earlier picture. */
export function row(page: Page, name: string): Locator {
  return page.locator('.row', { has: page.getByRole('heading', { name, exact: true }) })
}

/** Deletes an earlier picture, through its menu and the question. */
export async function deleteRow(of: Locator): Promise<void> {
  await pressInMenu(of, 'delete')
  await press(of, 'confirm-delete')
}

/** As the phone's share sheet posts them. */
export async function share(page: Page, files: ChosenFile[]): Promise<void> {
  await page.evaluate(async () => {
    const { active, waiting, installing } = await navigator.serviceWorker.ready
    const worker = active ?? waiting ?? installing
    while (worker?.state !== 'activated') await new Promise((resolve) => setTimeout(resolve, 50))
  })
  await page.evaluate(
    (files) => {
      const input = Object.assign(document.createElement('input'), {
        type: 'file',
        name: 'file',
        multiple: true,
      })
      const transfer = new DataTransfer()
      for (const { name, base64 } of files) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
        transfer.items.add(new File([bytes], name, { type: 'image/gif' }))
      }
      input.files = transfer.files
      const form = Object.assign(document.createElement('form'), {
        method: 'post',
        action: '/share',
        enctype: 'multipart/form-data',
      })
      form.append(input)
      document.body.append(form)
      form.submit()
    },
    files.map(({ name, buffer }) => ({ name, base64: buffer.toString('base64') })),
  )
}

/** Waits until the page keeps so many files that are not sent. `waitForFunction` takes any promise for true. */
export function keptFiles(page: Page, count: number): Promise<void> {
  const kept = () => page.evaluate(async () => (await (await caches.open('kept-files')).keys()).length)
  return until(`${count} files are kept`, async () => (await kept()) === count)
}

/**
 * What the history has, once the page has opened it. Rows come a while after the page is live: that there are none yet says
 * nothing.
 */
export function historyOf(page: Page): Promise<{ id: string; key: string; hasThumbnail: boolean }[]> {
  return page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.open('pinhole')
        request.onerror = () => reject(request.error)
        request.onsuccess = () => {
          const all = request.result.transaction('pictures').objectStore('pictures').getAll()
          all.onerror = () => reject(all.error)
          all.onsuccess = () => {
            request.result.close()
            resolve(all.result.map(({ id, key, thumbnail }) => ({ id, key, hasThumbnail: !!thumbnail })))
          }
        }
      }),
  )
}

/** How many pictures the history has. */
export async function remembered(page: Page): Promise<number> {
  return (await historyOf(page)).length
}

/** The deletion key of a picture, as the history has it. */
export async function keyOf(page: Page, id: string): Promise<string> {
  return (await historyOf(page)).find((picture) => picture.id === id)!.key
}

/** Whether the browser would ask before the page is left. */
export function leavingAsks(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const event = new Event('beforeunload', { cancelable: true })
    dispatchEvent(event)
    return event.defaultPrevented
  })
}

/**
 * Lets the page's clock run ahead, second by second, until `reached`: waits between tries take no time here. Stands
 * still while a codec works, which knows no clock but the wall's, and whose watchdog is on the page's.
 */
export async function passTime(page: Page, reached: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; !(await reached()); ) {
    if ((await page.locator('.card[data-state="compressing"]').count()) > 0) continue
    assert.ok(seconds++ < 600, await textOf(page.locator('#pictures')))
    await page.clock.runFor(1000)
  }
}

/** Before a visit: the link is not copied by itself, and the button that copies it is shown. */
export function copiesNothing(): void {
  // Not in the empty document that a page begins with.
  if (location.protocol.startsWith('http')) localStorage.setItem('pinhole.auto-copy', 'off')
}
