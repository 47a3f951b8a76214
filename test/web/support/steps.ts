/** Actions and assertions on the home page. */
import assert from 'node:assert/strict'
import type { JSHandle, Locator, Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { type Fault, type FaultProxy, NONE } from './fault-proxy.ts'
import { type ChosenFile, gif } from './pictures.ts'

export function card(page: Page, name: string): Locator {
  return page.locator('.card', { has: page.getByRole('heading', { name, exact: true }) })
}

/** Waits until the card of `name` is in `state`. */
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

/** Waits until exactly `count` cards are in `state`. */
export function cardsIn(page: Page, state: string, count: number): Promise<unknown> {
  return page.waitForFunction(
    ([state, count]) => document.querySelectorAll(`.card[data-state="${state}"]`).length === count,
    [state, count] as const,
  )
}

/** Makes the service unreachable: uploads get the `upload` fault and polls fail. Time runs on a fake clock from here on. */
export async function takeServiceAway(
  page: Page,
  { proxy }: { proxy: FaultProxy },
  upload: Fault = { kind: 'cut' },
): Promise<void> {
  await page.clock.install()
  proxy.onUpload = () => upload
  proxy.onOther = (path) => (path === '/api/upload' ? { kind: 'answer', status: 502 } : NONE)
}

/** Advances the fake clock until `count` cards wait for the service to return. */
export function cardsResume(page: Page, count: number): Promise<void> {
  return passTime(page, async () => (await page.locator('.card[data-state="resuming"]').count()) === count)
}

/** Uploads GIFs of these names. */
export async function uploadGifs(page: Page, names: string[], seed: number): Promise<void> {
  await choose(page, await Promise.all(names.map((name, index) => gif(name, seed + index))))
  await cardsIn(page, 'done', names.length)
}

/** Uploads one picture and returns its ID. */
export async function uploadOne(page: Page, file: ChosenFile): Promise<string> {
  await choose(page, [file])
  const done = await cardIn(page, 'done', file.name)
  return idOf(done)
}

export async function idOf(done: Locator): Promise<string> {
  const link = await done.locator('.card-link input').inputValue()
  return link.split('/').at(-1)!
}

/** IDs of all uploads, in order. */
export async function idsOf(page: Page): Promise<string[]> {
  const links = await page
    .locator('.card-link input')
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))
  return links.map((link) => link.split('/').at(-1)!)
}

export async function textOf(part: Locator): Promise<string> {
  return (await part.textContent()) ?? ''
}

/** Contents of the clipboard. */
export function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}

/** Waits until the live region shows a matching text. */
export async function heard(page: Page, words: RegExp): Promise<void> {
  await page.locator('#status').filter({ hasText: words }).waitFor()
}

/** Opens the menu of a card or row and presses an item. */
export async function pressInMenu(of: Locator, action: string): Promise<void> {
  await press(of, 'more')
  await of.page().locator(`#menu [data-action="${action}"]`).click()
}

/** The row of an earlier picture. */
export function row(page: Page, name: string): Locator {
  return page.locator('.row', { has: page.getByRole('heading', { name, exact: true }) })
}

/** Deletes an earlier picture via its menu, and confirms. */
export async function deleteRow(of: Locator): Promise<void> {
  await pressInMenu(of, 'delete')
  await press(of, 'confirm-delete')
}

/** Opens the "On this device" section and waits for its script. */
export async function openDevice(page: Page): Promise<void> {
  await page.click('#device summary')
  await page.locator('html[data-device]').waitFor()
}

/** The files as the browser would hand them to the page. */
export function transferOf(page: Page, files: ChosenFile[]): Promise<JSHandle<DataTransfer>> {
  return page.evaluateHandle(
    (files) => {
      const transfer = new DataTransfer()
      for (const { name, mimeType, base64 } of files) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
        transfer.items.add(new File([bytes], name, { type: mimeType }))
      }
      return transfer
    },
    files.map(({ name, mimeType, buffer }) => ({ name, mimeType, base64: buffer.toString('base64') })),
  )
}

/** Pastes files, or texts by their types, where the focus is. */
export async function paste(
  page: Page,
  files: ChosenFile[],
  texts: Record<string, string> = {},
): Promise<void> {
  const transfer = await transferOf(page, files)
  await transfer.evaluate((clipboardData, texts) => {
    for (const [type, text] of Object.entries(texts)) clipboardData.setData(type, text)
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.activeElement!.dispatchEvent(event)
  }, texts)
}

/** Posts files to the share target, like a phone's share sheet. */
export async function share(page: Page, files: ChosenFile[]): Promise<void> {
  await page.evaluate(async () => {
    const { active, waiting, installing } = await navigator.serviceWorker.ready
    const worker = active ?? waiting ?? installing
    while (worker?.state !== 'activated') await new Promise((resolve) => setTimeout(resolve, 50))
  })
  const transfer = await transferOf(page, files)
  await transfer.evaluate(({ files }) => {
    const input = document.createElement('input')
    Object.assign(input, { type: 'file', name: 'file', multiple: true, files })
    const form = document.createElement('form')
    Object.assign(form, { method: 'post', action: '/share', enctype: 'multipart/form-data' })
    form.append(input)
    document.body.append(form)
    form.submit()
  })
}

/** Waits until `count` unsent files are kept. Not by `waitForFunction`, which treats any promise as true. */
export function keptFiles(page: Page, count: number): Promise<void> {
  const kept = () => page.evaluate(async () => (await (await caches.open('kept-files')).keys()).length)
  return until(`${count} files are kept`, async () => (await kept()) === count)
}

/**
 * Reads the history from IndexedDB. More reliable than counting rows, which appear some time after the page is live.
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

/** Number of pictures in the history. */
export async function remembered(page: Page): Promise<number> {
  return (await historyOf(page)).length
}

/** The deletion key of a picture, from the history. */
export async function keyOf(page: Page, id: string): Promise<string> {
  return (await historyOf(page)).find((picture) => picture.id === id)!.key
}

/** Number of layout shifts without input, up to the frame that renders the current content. Not in Firefox. */
export function shiftsOf(page: Page): Promise<number> {
  return page.evaluate(async () => {
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    return new Promise<number>((resolve) => {
      const observer = new PerformanceObserver((list) => {
        const shifts = list.getEntriesByType('layout-shift') as unknown as { hadRecentInput: boolean }[]
        resolve(shifts.filter(({ hadRecentInput }) => !hadRecentInput).length)
      })
      observer.observe({ type: 'layout-shift', buffered: true })
      // Reported after all shifts, even if there were none.
      observer.observe({ type: 'mark' })
      performance.mark('end of the shifts')
    })
  })
}

/** True if the browser would ask before leaving the page. */
export function leavingAsks(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const event = new Event('beforeunload', { cancelable: true })
    dispatchEvent(event)
    return event.defaultPrevented
  })
}

/**
 * Advances the page's fake clock second by second until `reached`. Pauses while a codec runs, because codecs take real time
 * and their watchdog runs on the fake clock.
 */
export async function passTime(page: Page, reached: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; !(await reached()); ) {
    if ((await page.locator('.card[data-state="compressing"]').count()) > 0) continue
    assert.ok(seconds++ < 600, await textOf(page.locator('#pictures')))
    await page.clock.runFor(1000)
  }
}

/** Init script that turns off automatic copying, so that the copy button is shown. */
export function disableAutoCopy(): void {
  // Skip the initial empty document.
  if (location.protocol.startsWith('http')) localStorage.setItem('pinhole.auto-copy', 'off')
}
