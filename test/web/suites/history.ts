/** History on this device: export, import, deletion. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { picture } from '../../support/images/pictures.ts'
import { at } from '../support/fault-proxy.ts'
import { gif, photo } from '../support/pictures.ts'
import { GONE, type Site, testsOn } from '../support/site.ts'
import {
  card,
  cardIn,
  choose,
  deleteRow,
  heard,
  keyOf,
  openDevice,
  press,
  pressInMenu,
  remembered,
  row,
  shiftsOf,
  textOf,
  uploadOne,
} from '../support/steps.ts'

export function historySuite(site: () => Site): void {
  const test = testsOn(site)
  const deleting = testsOn(site, { expected: GONE })
  deleting('restores link, name, sizes, thumbnail and key after a reload', async ({ page, url }) => {
    const id = await uploadOne(page, await photo('kept.jpg'))
    await page.reload()
    const earlier = row(page, 'kept.jpg')
    await earlier.waitFor()
    await page.locator('.honesty:visible').waitFor()
    if (site().engine === 'chromium') assert.equal(await shiftsOf(page), 0)
    assert.match(await textOf(earlier.locator('.card-state')), /^\d+:\d\d/)
    const { height } = (await earlier.boundingBox())!
    assert.ok(height >= 68 && height <= 80, `${height} px`)
    const drawn = await earlier.locator('img').evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      return image.naturalWidth
    })
    assert.ok(drawn > 0 && drawn < 320)
    for (const part of ['.row-thumbnail', '.card-name']) {
      // Whatever lies on top of it is pressed.
      await earlier.locator(part).click({ force: true })
      await page.waitForURL(`${url}/${id}`)
      await page.goBack()
    }
    await press(earlier, 'more')
    assert.equal(await page.locator('#menu [data-action="open"]').getAttribute('href'), `${url}/${id}`)
    await page.locator('#menu [data-action="delete"]').click()
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Keep')
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'More')
    await deleteRow(earlier)
    await heard(page, /Deleted: kept.jpg/)
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'file')
    assert.equal((await fetch(`${url}/raw/${id}`)).status, 404)
    assert.equal(await remembered(page), 0)
  })

  test('saves the key although the browser has closed the database', {
    beforeScripts: () => {
      const { open } = IDBFactory.prototype
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args)
        request.addEventListener('success', () => {
          // Safari does so to tabs in the background.
          addEventListener('lose-database', () => request.result.close(), { once: true })
        })
        return request
      }
    },
  }, async ({ page }) => {
    await page.locator('html[data-listed]').waitFor()
    for (const [index, name] of ['first.gif', 'second.gif'].entries()) {
      await page.evaluate(() => dispatchEvent(new Event('lose-database')))
      const id = await uploadOne(page, await gif(name, 80 + index))
      assert.ok(await keyOf(page, id))
    }
    await page.reload()
    await row(page, 'second.gif').waitFor()
  })

  test('crops a panorama’s thumbnail to a square', async ({ page }) => {
    const wide = await picture({ width: 900, height: 140, seed: 77 }).jpeg().toBuffer()
    await uploadOne(page, { name: 'wide.jpg', mimeType: 'image/jpeg', buffer: wide })
    const size = await card(page, 'wide.jpg')
      .locator('img:visible')
      .evaluate(async (image: HTMLImageElement) => {
        await image.decode()
        return [image.naturalWidth, image.naturalHeight]
      })
    assert.deepEqual(size, [176, 176])
  })

  test('evicts a deleted picture from the browser’s cache', {
    expected: /status of 404|ERR_CACHE_MISS/,
  }, async ({ page }) => {
    const id = await uploadOne(page, await gif('cached.gif', 71))
    // The page itself, the viewer and the direct link, and the download button.
    const paths = [`/raw/${id}`, `/raw/${id}.gif`, `/raw/${id}?dl=1`]
    const cached = () =>
      page.evaluate(async (paths) => {
        const answers = paths.map((path) =>
          fetch(path, { cache: 'only-if-cached', mode: 'same-origin' }).then(
            ({ ok }) => ok,
            () => false,
          ),
        )
        const isCached = await Promise.all(answers)
        return paths.filter((_, index) => isCached[index])
      }, paths)
    await page.evaluate(
      (paths) => Promise.all(paths.map((path) => fetch(path).then((answer) => answer.blob()))),
      paths,
    )
    assert.deepEqual(await cached(), paths)
    await press(card(page, 'cached.gif'), 'delete')
    await press(card(page, 'cached.gif'), 'confirm-delete')
    await heard(page, /Deleted/)
    assert.deepEqual(await cached(), [])
  })

  test('removes pictures that the service no longer has, but not on a proxy’s 404 or without a response', {
    expected: /^Failed to load resource: /,
  }, async ({ page, proxy, url }) => {
    const id = await uploadOne(page, await gif('gone.gif', 72))
    const kept = await uploadOne(page, await gif('still-there.gif', 73))
    const unreachable = await uploadOne(page, await gif('unreachable.gif', 74))
    // A proxy in front of a service under maintenance.
    const maintenance = at(kept, { kind: 'answer', status: 404, headers: { 'Content-Type': 'text/html' } })
    const cut = at(unreachable, { kind: 'cut' })
    proxy.onOther = (path) => (path.includes(kept) ? maintenance : cut)(path)
    const key = await keyOf(page, id)
    assert.equal((await fetch(`${url}/api/delete?key=${key}`, { method: 'DELETE' })).status, 200)
    await page.reload()
    await heard(page, /^1 picture is no longer online/)
    assert.deepEqual(await page.locator('.card-name').allTextContents(), [
      'unreachable.gif',
      'still-there.gif',
    ])
    assert.equal(await remembered(page), 2)
  })

  const onlyChromium = 'WebDriver BiDi doesn’t report downloads created by the page'
  test('exports the keys even if a thumbnail can’t be read', {
    onlyChromium,
    beforeScripts: () => {
      FileReader.prototype.readAsDataURL = function () {
        queueMicrotask(() => this.dispatchEvent(new ProgressEvent('error')))
      }
    },
  }, async ({ page }) => {
    const id = await uploadOne(page, await photo('unreadable.jpg'))
    const key = await keyOf(page, id)
    await page.click('#device summary')
    const download = page.waitForEvent('download')
    await page.click('#export')
    const { pictures } = JSON.parse(await readFile(await (await download).path(), 'utf8'))
    assert.deepEqual(
      pictures.map(({ id, key }: { id: string; key: string }) => ({ id, key })),
      [{ id, key }],
    )
  })

  test('exports to a file and imports it in another browser, which can then delete', {
    onlyChromium,
  }, async (first) => {
    const id = await uploadOne(first.page, await photo('travels.jpg'))
    await first.page.click('#device summary')
    const download = first.page.waitForEvent('download')
    await first.page.click('#export')
    await heard(first.page, /1 picture and its deletion key saved to pinhole-history.json/)
    const file = await readFile(await (await download).path())

    const { pinhole, pictures } = JSON.parse(`${file}`)
    const gone = 'AAAAAAAAAAA'
    const [{ key, ...entry }] = pictures
    pictures.push({
      ...entry,
      id: gone,
      key: key.replace(id, gone),
      link: `${site().url}/${gone}`,
      name: 'gone',
    })

    const second = await site().visit({ expected: GONE })
    await openDevice(second.page)
    await importFile(second.page, Buffer.from(JSON.stringify({ pinhole, pictures })))
    await heard(second.page, /^2 pictures imported\. 1 picture is no longer online/)
    await second.page.locator('.row img:visible').waitFor()
    await deleteRow(row(second.page, 'travels.jpg'))
    await heard(second.page, /Deleted/)
    assert.equal((await fetch(`${site().url}/raw/${id}`)).status, 404)
    await second.end()
  })

  test('validates everything in an imported file', async ({ page, url }) => {
    const entry = {
      id: 'Zr4Kq9Lm2Xa',
      key: `Zr4Kq9Lm2Xa${'k'.repeat(32)}`,
      link: `${url}/Zr4Kq9Lm2Xa`,
      name: '<img src=x onerror=alert(1)>',
      type: 'image/gif',
      bytesIn: 1,
      bytesOut: 1,
      width: 1,
      height: 1,
      at: '2026-01-01T00:00:00.000Z',
    }
    const wrong = [
      { ...entry, link: 'javascript:alert(1)' },
      { ...entry, link: 'https://elsewhere.example/Zr4Kq9Lm2Xa' },
      { ...entry, id: '../../etc' },
      { ...entry, key: 'short' },
      { ...entry, key: 'k'.repeat(43) },
      { ...entry, type: 'text/html' },
      { ...entry, at: 'yesterday' },
      null,
      7,
    ]
    const importPictures = (pictures: unknown[], pinhole = 1) =>
      importFile(page, JSON.stringify({ pinhole, pictures }))
    await openDevice(page)
    await importPictures(wrong)
    await heard(page, /0 pictures imported/)
    await importPictures([entry], 2)
    await heard(page, /isn’t a Pinhole history file/)
    await importFile(page, 'not json')
    await heard(page, /isn’t a Pinhole history file/)
    assert.equal(await remembered(page), 0)
    assert.equal(await page.locator('.row').count(), 0)

    const id = await uploadOne(page, await gif('mine.gif', 80))
    const key = await keyOf(page, id)
    const own = { ...entry, id, key: `${id}${'k'.repeat(32)}`, link: `${url}/${id}` }
    await importPictures([own])
    await heard(page, /0 pictures imported/)
    assert.equal(await keyOf(page, id), key, 'a wrong key doesn’t overwrite the right one')
  })

  test('clears the history after confirmation', async ({ page, url }) => {
    const id = await uploadOne(page, await gif('forget.gif', 74))
    await page.reload()
    await row(page, 'forget.gif').waitFor()
    await uploadOne(page, await gif('of-this-visit.gif', 79))
    await page.getByText('Options').click()
    await page.getByLabel('Original').check()
    await page.click('#device summary')
    await page.click('#forget')
    await page.keyboard.press('Escape')
    await page.locator('#forget-ask').waitFor({ state: 'hidden' })
    assert.equal(await page.locator('.card, .row').count(), 2)
    await page.click('#forget')
    await page.click('#forget-confirm')
    await heard(page, /history on this device was cleared/)
    await page.waitForFunction(() => document.querySelectorAll('.card, .row').length === 0)
    await page.reload()
    assert.equal(await remembered(page), 0)
    assert.equal(await page.evaluate(() => localStorage.length), 0)
    assert.equal(await page.locator('input[name="mode"]:checked').getAttribute('value'), 'auto')
    assert.equal((await fetch(`${url}/raw/${id}`)).status, 200, 'the picture stays online')
  })

  test('keeps the choice to remember nothing when the history is cleared', async ({ page }) => {
    await openDevice(page)
    await page.locator('#remember').uncheck()
    await page.locator('#expires').selectOption('1d')
    await page.click('#forget')
    await page.click('#forget-confirm')
    await heard(page, /history on this device was cleared/)
    await page.reload()
    assert.equal(await page.locator('#remember').isChecked(), false)
    assert.equal(await page.locator('#expires').inputValue(), '')
  })

  test('works where the browser denies storage', {
    expected: GONE,
    beforeScripts: () => {
      indexedDB.open = () => {
        throw new DOMException('denied', 'SecurityError')
      }
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new DOMException('denied', 'SecurityError')
        },
      })
    },
  }, async ({ page, axe }) => {
    await choose(page, [await gif('passing.gif', 76)])
    const done = await cardIn(page, 'done', 'passing.gif')
    assert.match(await textOf(done.locator('.card-note')), /Not saved in this browser/)
    await page.click('#device summary')
    await page.getByText('doesn’t let Pinhole save').waitFor()
    assert.deepEqual(await axe(), [])
    await press(card(page, 'passing.gif'), 'delete')
    await press(card(page, 'passing.gif'), 'confirm-delete')
    await heard(page, /Deleted/)
  })

  test('shows the link and a warning when browser storage is full', {
    beforeScripts: () => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('full', 'QuotaExceededError')
      }
    },
  }, async ({ page, url }) => {
    const id = await uploadOne(page, await gif('full.gif', 78))
    assert.equal((await fetch(`${url}/raw/${id}`)).status, 200)
    await card(page, 'full.gif').getByText('Not saved in this browser').waitFor()
    const key = `${id}${'k'.repeat(32)}`
    const entry = { id, key, link: `${url}/${id}`, type: 'image/gif', at: '2026-01-01T00:00:00.000Z' }
    await openDevice(page)
    await importFile(page, JSON.stringify({ pinhole: 1, pictures: [entry] }))
    await heard(page, /Nothing was imported/)
  })

  test('a thumbnail or description does not bring back a picture that another tab deleted', {
    beforeScripts: () => {
      const { get, put } = IDBObjectStore.prototype
      IDBObjectStore.prototype.get = function (id) {
        IDBObjectStore.prototype.get = get
        const answer = get.call(this, id)
        this.transaction.db
          .transaction('pictures', 'readwrite')
          .objectStore('pictures')
          .delete(id as string)
        return answer
      }
      IDBObjectStore.prototype.put = function (picture) {
        if (picture.thumbnail) document.documentElement.dataset.thumbnail = ''
        return put.call(this, picture)
      }
    },
  }, async ({ page }) => {
    await choose(page, [await gif('raced.gif', 79)])
    await page.locator('html[data-thumbnail]').waitFor()
    assert.equal(await remembered(page), 0)
    await pressInMenu(card(page, 'raced.gif'), 'describe')
    await page.fill('#describe input', 'A circle')
    await page.click('#describe [value="save"]')
    await heard(page, /Description saved/)
    assert.equal(await remembered(page), 0)
  })

  test('removes the row of a deleted picture although the history can’t be written', {
    expected: GONE,
    beforeScripts: () => {
      IDBObjectStore.prototype.delete = () => {
        throw new DOMException('closing', 'InvalidStateError')
      }
    },
  }, async ({ page }) => {
    for (const name of ['here.gif', 'elsewhere.gif']) await uploadOne(page, await gif(name, name.length + 80))
    await page.reload()
    await deleteRow(row(page, 'here.gif'))
    await row(page, 'here.gif').waitFor({ state: 'detached' })
    await page.reload()
    await row(page, 'here.gif').waitFor({ state: 'detached' })
    await row(page, 'elsewhere.gif').waitFor()
  })

  deleting('puts the key in a URL only for deletion', async ({ page, url, server }) => {
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(`${request.method()} ${request.url()}`))
    const id = await uploadOne(page, await gif('key.gif', 77))
    const key = await keyOf(page, id)
    await page.reload()
    await row(page, 'key.gif').waitFor()
    await page.goto(`${url}/${id}`)
    await page.goto(url)
    await deleteRow(row(page, 'key.gif'))
    await heard(page, /Deleted/)
    const withKey = addresses.filter((address) => address.includes(key))
    assert.deepEqual(withKey, [`DELETE ${url}/api/delete?key=${key}`])
    assert.equal(server.stdout().includes(key) || server.stderr().includes(key), false)
  })
}

function importFile(page: Page, content: string | Buffer): Promise<void> {
  const file = { name: 'h.json', mimeType: 'application/json', buffer: Buffer.from(content) }
  return page.setInputFiles('#import-file', file)
}
