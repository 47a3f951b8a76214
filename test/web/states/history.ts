/** States of the list of earlier pictures. */
import { uploadedBefore } from '../support/scene-files.ts'
import { press, pressInMenu } from '../support/steps.ts'
import type { PageState } from './state.ts'

export const historyStates: PageState[] = [
  { name: 'history-few', reach: (page) => uploadedBefore(page, 0) },
  { name: 'history', reach: (page) => uploadedBefore(page, 7) },
  { name: 'history-many', reach: (page) => uploadedBefore(page, 30) },
  {
    name: 'history-none-found',
    async reach(page) {
      await uploadedBefore(page, 7)
      await page.locator('#search').fill('glacier')
    },
  },
  {
    name: 'history-selecting',
    async reach(page) {
      await uploadedBefore(page, 7)
      await page.click('#select')
      await page.locator('.row input').nth(0).check()
      await page.locator('.row input').nth(2).check()
    },
  },
  {
    name: 'history-deleting-several',
    async reach(page) {
      await uploadedBefore(page, 0)
      await page.click('#select')
      await page.click('#select-all')
      await page.click('#delete-selected')
    },
  },
  {
    name: 'history-menu',
    async reach(page) {
      await uploadedBefore(page, 0)
      await press(page.locator('.row').nth(1), 'more')
    },
  },
  {
    name: 'history-deleting',
    async reach(page) {
      await uploadedBefore(page, 0)
      await pressInMenu(page.locator('.row').nth(1), 'delete')
    },
  },
]
