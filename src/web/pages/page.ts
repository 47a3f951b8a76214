/** Layout and shared elements of all pages. */
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { API_PAGE_PATH, REPORT_PAGE_PATH, TOOLS_PATH } from '../../protocol.ts'
import type { Messages } from '../messages/english.ts'
import { type Language, pickLanguage } from '../messages/language.ts'
import { fill } from '../messages/wording.ts'
import type { Resizer } from '../resizer.ts'

export type Page = HtmlEscapedString | Promise<HtmlEscapedString>

/** Asset URLs. `scripts` are ES modules. */
export interface AssetUrls {
  style: string
  /** Additional style sheets by kind of page. */
  styles: Record<StyleName, string>
  icon: string
  appleIcon: string
  /** Image for link previews of the home page, 1200 × 630 pixels. */
  preview: string
  manifest: string
  scripts: Record<ScriptName, string>
  /** Static imports of each script, for preloading. */
  imports: Record<ScriptName, string[]>
}

export type StyleName = 'home' | 'note' | 'viewer' | 'gallery' | 'reference' | 'report' | 'operator'

export type ScriptName = 'home' | 'viewer' | 'gallery' | 'delete' | 'pass' | 'report' | 'operator'

/** Properties of the service that pages depend on. */
export interface SiteFacts {
  /** No trailing slash. */
  baseUrl: string
  maxUploadBytes: number
  /** False if metadata stays in stored images. */
  stripsMetadata: boolean
  /** False if browsers reject HEIC and JPEG XL with advice instead of converting them. */
  convertsHeic: boolean
  /** `null`: previews are uploaded by clients. */
  resizer: Resizer | null
  /** `standard`: of uploads that set none. `max`: the longest. Unit: seconds. `Infinity`: until it is deleted. */
  lifetimes: { standard: number; max: number }
  /** True if the operator can find uploads by the same uploader. */
  linksUploads: boolean
  /** Name and contact of the operator, as free text. */
  operator?: { name?: string | undefined; contact?: string | undefined }
  assets: AssetUrls
}

/** Site facts plus the visitor's language. */
export interface PageContext extends SiteFacts, Language {}

export function contextFor(facts: SiteFacts, acceptLanguage: string | undefined): PageContext {
  return { ...facts, ...pickLanguage(acceptLanguage) }
}

export interface PageParts {
  title: string
  /** Class of the body. */
  kind: string
  main: Page
  /** Head elements before the style sheets. */
  first?: Page
  /** Additional head elements. */
  head?: Page
  script?: ScriptName
  style?: StyleName
  /** ID of the page's image, for the report link. */
  reportedId?: string
}

/** Renders the document around `main`. */
export function page(
  ctx: PageContext,
  { title, kind, main, first, head, script, style, reportedId }: PageParts,
): Page {
  const { messages, assets } = ctx
  return html`<!doctype html>
<html lang="${messages.lang}" dir="${messages.dir}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f6f1e7" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#14110c" media="(prefers-color-scheme: dark)">
${first ?? ''}
<link rel="stylesheet" href="${assets.style}">
${style ? html`<link rel="stylesheet" href="${assets.styles[style]}">` : ''}
${script ? scriptElements(assets, script) : ''}
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${assets.appleIcon}">
<link rel="manifest" href="${assets.manifest}">
${head ?? ''}
</head>
<body class="${kind}">
<header class="masthead">
<a class="wordmark" href="/">${logo()}<span>Pinhole</span></a>
</header>
${main}
<footer class="colophon">
<a href="/terms">${messages.terms.title}</a>
<a href="${REPORT_PAGE_PATH}${reportedId ? `?id=${reportedId}` : ''}">${messages.report.link}</a>
<a href="${TOOLS_PATH}">${messages.frame.tools}</a>
<a href="${API_PAGE_PATH}">API</a>
</footer>
</body>
</html>
`
}

function scriptElements(assets: AssetUrls, script: ScriptName): Page {
  return html`<script type="module" src="${assets.scripts[script]}"></script>
${assets.imports[script].map((url) => html`<link rel="modulepreload" href="${url}">\n`)}`
}

/** The page's live region for short notices, with an optional copy button. */
export function notice({ viewer }: Messages): Page {
  return html`<div class="notice"><p role="status" id="status"></p><textarea id="notice-text" rows="1" dir="ltr" aria-label="${viewer.page}" spellcheck="false" readonly hidden></textarea><button type="button" class="button" id="notice-copy" hidden></button></div>`
}

/**
 * For pages with a form that other sites must not send, and without a key in their URL. With the header's `no-referrer`,
 * browsers send such a form with `Origin: null`, and over plain http nothing else tells whose it is.
 */
export const NAMES_ORIGIN = html`<meta name="referrer" content="same-origin">`

/** Logo: light passing through a pinhole. */
function logo(): Page {
  return html`<svg class="mark" viewBox="0 0 40 24" aria-hidden="true" focusable="false"><path class="mark-light" d="M1 7 20 12 1 17ZM39 2 20 12l19 10Z"/><circle cx="20" cy="12" r="3.5"/></svg>`
}

/** Decorative full-width beam of light through the pinhole. */
export function beam(): Page {
  return acrossPage('M0 22 100 50 0 78ZM200 0 100 50l100 50Z')
}

/** The beam with the pinhole covered. */
export function coveredBeam(): Page {
  return acrossPage('M0 22 100 50 0 78Z')
}

function acrossPage(path: string): Page {
  return html`<div class="beam" aria-hidden="true"><svg viewBox="0 0 200 100" preserveAspectRatio="none" focusable="false"><path d="${path}"/></svg><span class="hole"></span></div>`
}

/** URI for a web or email address. `null` for other text. */
export function contactUri(contact: string): string | null {
  if (/^https?:\/\/\S+$/i.test(contact)) return contact
  return /^[^\s@<>"]+@[^\s@<>"]+$/.test(contact) ? `mailto:${contact}` : null
}

/** Links web and email addresses; other text stays as it is. */
export function contactLink(contact: string): Page | string {
  const uri = contactUri(contact)
  return uri === null ? contact : html`<a href="${uri}" rel="noreferrer">${contact}</a>`
}

/** Read-only field with a copy button, which appears when scripts run. */
export function copyField(
  { viewer }: Messages,
  field: { id: string; label: string; value: string; isLink?: boolean; hidesLabel?: boolean },
): Page {
  return html`<div class="copy-field">
<label for="${field.id}"${field.hidesLabel ? html` class="visually-hidden"` : ''}>${field.label}</label>
<input id="${field.id}" type="text" dir="ltr"${field.isLink ? html` class="ends"` : ''} value="${field.value}" readonly spellcheck="false" autocomplete="off">
<button type="button" class="button quiet" data-copy="${field.id}" aria-label="${fill(viewer.copyWhat, { what: field.label })}" hidden>${viewer.copy}</button>
</div>`
}

/** Localized time in UTC, because the server doesn't know the visitor's time zone. `time`: ISO 8601. */
export function momentOf({ locale }: PageContext, time: string): Page {
  const text = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  }).format(new Date(time))
  return html`<time datetime="${time}">${text} UTC</time>`
}
