/** What every page is made of. */
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { API_PAGE_PATH, REPORT_PAGE_PATH, TOOLS_PATH } from '../../protocol.ts'
import type { Messages } from '../messages/english.ts'
import type { Language } from '../messages/language.ts'
import { fill } from '../messages/wording.ts'
import type { Resizer } from '../resizer.ts'

export type Page = HtmlEscapedString | Promise<HtmlEscapedString>

/** Addresses of what pages load, all of this service. Those of `scripts` are ES modules. */
export interface AssetUrls {
  style: string
  /** What a kind of page adds to the style of all. */
  styles: Record<StyleName, string>
  icon: string
  appleIcon: string
  /** What previews of links to this service show: 1200 by 630 pixels. */
  preview: string
  manifest: string
  scripts: Record<ScriptName, string>
  /** What a script imports at once, to be fetched beside it. */
  imports: Record<ScriptName, string[]>
}

export type StyleName = 'home' | 'note' | 'viewer' | 'gallery' | 'reference' | 'report' | 'operator'

export type ScriptName = 'home' | 'viewer' | 'gallery' | 'delete' | 'pass' | 'report' | 'operator'

/** What pages say of this server, in any language. */
export interface SiteFacts {
  /** No trailing slash. */
  baseUrl: string
  maxUploadBytes: number
  /** False if the operator keeps metadata in what is stored. */
  stripsMetadata: boolean
  /** False if HEIC and JPEG XL are refused before the upload, with advice. */
  convertsHeic: boolean
  /** `null`: previews are what clients send. */
  resizer: Resizer | null
  /** False if an image goes after a time although its upload asks for none. */
  keepsAll: boolean
  /** Who runs the service, and how to reach them, in their own words. */
  operator?: { name?: string | undefined; contact?: string | undefined }
  assets: AssetUrls
}

/** In the language that the person asked for. */
export interface PageContext extends SiteFacts, Language {}

export interface PageParts {
  title: string
  /** Class of the body. */
  kind: string
  main: Page
  /** What waits for no style sheet. */
  first?: Page
  /** Further elements of the head. */
  head?: Page
  script?: ScriptName
  style?: StyleName
  /** Id of the image that the page is about, for the link that reports it. */
  reportedId?: string
  /** Further links of the foot. */
  foot?: Page
}

/** A whole document around `main`. */
export function page(
  ctx: PageContext,
  { title, kind, main, first, head, script, style, reportedId, foot }: PageParts,
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
<a class="wordmark" href="/">${mark()}<span>Pinhole</span></a>
</header>
${main}
<footer class="colophon">
<a href="/terms">${messages.terms.title}</a>
<a href="${REPORT_PAGE_PATH}${reportedId ? `?id=${reportedId}` : ''}">${messages.report.link}</a>
<a href="${TOOLS_PATH}">${messages.frame.tools}</a>
<a href="${API_PAGE_PATH}">API</a>
${foot ?? ''}
</footer>
</body>
</html>
`
}

function scriptElements(assets: AssetUrls, script: ScriptName): Page {
  return html`<script type="module" src="${assets.scripts[script]}"></script>
${assets.imports[script].map((url) => html`<link rel="modulepreload" href="${url}">\n`)}`
}

/** What is said for a moment: the page's one live region, and a button that goes with it. */
export function notice({ viewer }: Messages): Page {
  return html`<div class="notice"><p role="status" id="status"></p><textarea id="notice-text" rows="1" dir="ltr" aria-label="${viewer.page}" spellcheck="false" readonly hidden></textarea><button type="button" class="button" id="notice-copy" hidden>${viewer.copy}</button></div>`
}

/** Beside the name: light through a pinhole. What is outside comes in through a dot, and opens out again behind it. */
function mark(): Page {
  return html`<svg class="mark" viewBox="0 0 40 24" aria-hidden="true" focusable="false"><path class="mark-light" d="M1 7 20 12 1 17ZM39 2 20 12l19 10Z"/><circle cx="20" cy="12" r="3.5"/></svg>`
}

/** The light on its way through the hole, across the whole width of the page. */
export function beam(): Page {
  return acrossPage('M0 22 100 50 0 78ZM200 0 100 50l100 50Z')
}

/** The same, but nothing comes through. */
export function coveredBeam(): Page {
  return acrossPage('M0 22 100 50 0 78Z')
}

function acrossPage(path: string): Page {
  return html`<div class="beam" aria-hidden="true"><svg viewBox="0 0 200 100" preserveAspectRatio="none" focusable="false"><path d="${path}"/></svg><span class="hole"></span></div>`
}

/** A page's address, or one of mail as a URI. `null` for words. */
export function contactUri(contact: string): string | null {
  if (/^https?:\/\/\S+$/i.test(contact)) return contact
  return /^[^\s@<>"]+@[^\s@<>"]+$/.test(contact) ? `mailto:${contact}` : null
}

/** An address becomes a link; anything else stays words. */
export function contactLink(contact: string): Page | string {
  const uri = contactUri(contact)
  return uri === null ? contact : html`<a href="${uri}" rel="noreferrer">${contact}</a>`
}

/** A text to take along: a field to select from, and a button that copies it where scripts run. */
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

/** A time in the reader's words, in UTC: where they are is not known here. `time`: ISO 8601. */
export function momentOf({ locale }: PageContext, time: string): Page {
  const text = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  }).format(new Date(time))
  return html`<time datetime="${time}">${text} UTC</time>`
}
