/** What every page is made of. */
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { API_PAGE_PATH, REPORT_PAGE_PATH, TOOLS_PATH } from '../../protocol.ts'
import type { Language } from '../messages/language.ts'
import type { Messages } from '../messages/messages.ts'
import type { Resizer } from '../resizer.ts'
import { mark } from './drawings.ts'

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
