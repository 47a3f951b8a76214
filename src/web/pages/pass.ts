import { html } from 'hono/html'
import { PASS_UPLOADS, TOOLS_PATH } from '../../protocol.ts'
import { fill } from '../messages/wording.ts'
import { copyField, notice, type Page, type PageContext, page } from './page.ts'
import { factsBlock, passFacts } from './page-facts.ts'

/** Page at `/pass`: solves a proof of work in the browser for tools that can't. */
export function passPage(ctx: PageContext): Page {
  const { pass, frame } = ctx.messages
  return page(ctx, {
    title: `${pass.title} · Pinhole`,
    kind: 'prose',
    style: 'note',
    script: 'pass',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
<h1>${pass.title}</h1>
<p class="lead">${fill(pass.lead, { count: PASS_UPLOADS })}</p>
<p>${pass.why} ${pass.anonymous}</p>
<noscript><p>${pass.needsScript}</p></noscript>
<p class="actions"><button class="button" type="button" id="get" hidden>${pass.get}</button></p>
<p class="problem" role="alert" id="problem"></p>
<p id="working" hidden><label for="progress">${pass.working}</label> <progress id="progress" value="0"></progress></p>
<div class="keep" id="got" hidden>
<h2 tabindex="-1">${pass.got}</h2>
${copyField(ctx.messages, { id: 'pass', label: pass.label, value: '' })}
${copyField(ctx.messages, { id: 'curl', label: pass.curl, value: '' })}
<p class="actions"><a class="button quiet" id="sharex" download="pinhole-pass.sxcu">${pass.sharex}</a></p>
<p class="soft">${pass.keep} <time id="expires"></time></p>
</div>
<p><a class="back" href="${TOOLS_PATH}">${frame.tools}</a></p>
${notice(ctx.messages)}
</main>
${factsBlock(passFacts(ctx))}`,
  })
}
