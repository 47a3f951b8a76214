/** Features beyond a plain upload, in real Chromium against the real server. */
import { after, before, describe } from 'node:test'
import { whyNoChromium } from '../support/browser.ts'
import { accessibilitySuite } from './suites/accessibility.ts'
import { appearanceSuite } from './suites/appearance.ts'
import { editorSuite } from './suites/editor.ts'
import { fileNamesSuite } from './suites/file-names.ts'
import { gallerySuite } from './suites/gallery.ts'
import { panelSuite } from './suites/panel.ts'
import { phoneSuite } from './suites/phone.ts'
import { progressSuite } from './suites/progress.ts'
import { questionsSuite } from './suites/questions.ts'
import { reportSuite } from './suites/report.ts'
import { sendingSuite } from './suites/sending.ts'
import { viewerSuite } from './suites/viewer.ts'
import { openSite, type Site } from './support/site.ts'

describe('the pages in a browser: features', { skip: await whyNoChromium() }, () => {
  let site: Site
  before(async () => {
    site = await openSite()
  })
  after(() => site?.close())

  describe('on a phone', () => phoneSuite(() => site))
  describe('viewer', () => viewerSuite(() => site))
  describe('gallery', () => gallerySuite(() => site))
  describe('editor', () => editorSuite(() => site))
  describe('progress', () => progressSuite(() => site))
  describe('sending', () => sendingSuite(() => site))
  describe('earlier pictures', () => panelSuite(() => site))
  describe('questions', () => questionsSuite(() => site))
  describe('report', () => reportSuite(() => site))
  describe('file names', () => fileNamesSuite(() => site))
  describe('appearance', () => appearanceSuite(() => site))
  describe('accessibility', () => accessibilitySuite(() => site))
})
