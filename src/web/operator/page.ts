/** Layout of the admin pages. They work without scripts, which only add keyboard shortcuts. */
import { html } from 'hono/html'
import type { Page } from '../pages/page.ts'

export interface AdminContext {
  styles: string[]
  script: string
  icon: string
  /** Name of the logged-in operator, or `null`. */
  who: string | null
  /** CSRF token of every form. */
  formToken: string
}

/** `kind`: class of the body. */
export function adminPage(ctx: AdminContext, title: string, main: Page, kind = 'note'): Page {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Pinhole</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${ctx.styles.map((style) => html`<link rel="stylesheet" href="${style}">\n`)}
<link rel="icon" href="${ctx.icon}" type="image/svg+xml">
${ctx.who === null ? '' : html`<script type="module" src="${ctx.script}"></script>`}
</head>
<body class="${kind} admin">
<header class="masthead"><a class="wordmark" href="/"><span>Pinhole, operator</span></a></header>
<main>
<h1>${title}</h1>
${main}
</main>
${
  ctx.who === null
    ? ''
    : html`<footer class="colophon"><form method="post" action="/logout">${formToken(ctx)}<p>${ctx.who} <button class="button text">Log out</button></p></form><button type="button" class="button text" id="keys" aria-pressed="true" hidden>Keys</button></footer>`
}
</body>
</html>`
}

export function formToken(ctx: AdminContext): Page {
  return html`<input type="hidden" name="form-token" value="${ctx.formToken}">`
}

export function loginPage(ctx: AdminContext, token: string): Page {
  return adminPage(
    ctx,
    'Log in',
    html`<form method="post" action="/login"><input type="hidden" name="token" value="${token}">
<p>This link works only once.</p><p><button class="button">Log in</button></p></form>`,
  )
}

/** `command`: what users type before an operator command. `next`: address for somebody who is logged in. */
export function closedPage(ctx: AdminContext, command: string, next: string): Page {
  return adminPage(
    ctx,
    'Log in first',
    // The session's cookie does not come along with a link from another site, e.g. webmail, but with one from this page.
    html`<p>On the server, <code>${command} login</code> prints a login link that works once.</p>
<p><a href="${next}">Already logged in? Continue</a></p>`,
  )
}

export function adminErrorPage(ctx: AdminContext, detail: string): Page {
  return adminPage(
    ctx,
    'That didn’t work',
    html`<p>${detail}</p><p class="actions"><a class="button quiet" href="/queue">Reported images</a> <a class="button quiet" href="/">Overview</a></p>`,
  )
}
