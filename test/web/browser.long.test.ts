/** Pages in real Chromium against the real server, shared by all suites. More suites: `features.long.test.ts`. */
import { after, before, describe } from 'node:test'
import { whyNoChromium } from '../support/browser.ts'
import { challengesSuite } from './suites/challenges.ts'
import { faultsSuite } from './suites/faults.ts'
import { finalStatesSuite } from './suites/final-states.ts'
import { historySuite } from './suites/history.ts'
import { inputSuite } from './suites/input.ts'
import { lateChunksSuite } from './suites/late-chunks.ts'
import { loadingSuite } from './suites/loading.ts'
import { pagesSuite } from './suites/pages.ts'
import { statesSuite } from './suites/states.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in a browser', { skip: await whyNoChromium() }, () => {
  let site: Site
  before(async () => {
    site = await openSite()
  })
  after(() => site?.close())

  describe('loading', () => loadingSuite(() => site))
  describe('input', () => inputSuite(() => site))
  describe('states', () => statesSuite(() => site))
  describe('final states', () => finalStatesSuite(() => site))
  describe('faults', () => faultsSuite(() => site))
  describe('history', () => historySuite(() => site))
  describe('challenges', () => challengesSuite(() => site))
  describe('pages', () => pagesSuite(() => site))
  describe('late chunks', () => lateChunksSuite(() => site))
})
