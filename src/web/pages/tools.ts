/** The page at `/tools`: how to upload from elsewhere. In English, as the commands are. */
import { html } from 'hono/html'
import { API_PAGE_PATH, SCRIPT_PATH, SHAREX_PATH, UPLOAD_FIELD, UPLOAD_PATH } from '../../protocol.ts'
import { type Page, type PageContext, page } from './page.ts'

export function toolsPage(ctx: PageContext): Page {
  const { baseUrl } = ctx
  const host = new URL(baseUrl).host
  return page(ctx, {
    title: 'Use it elsewhere · Pinhole',
    kind: 'reference',
    style: 'reference',
    head: html`<meta name="description" content="Upload from a terminal, a screenshot tool or a program.">`,
    main: html`<main lang="en">
<h1>Use it elsewhere</h1>
<p class="lead">From a terminal, a screenshot tool, or a program of your own.</p>
<section>
<h2>Command</h2>
<p>It makes pictures smaller before it sends them, and remembers what deletes them. It needs Node.</p>
${command(`npm install --global pinhole
export PINHOLE_SERVER=${baseUrl}
pinhole upload --copy holiday.jpg`)}
</section>
<section>
<h2>Script</h2>
<p>It needs a shell and curl. It is short: read it first.</p>
${command(`curl -fsSo upload.sh ${baseUrl}${SCRIPT_PATH} && chmod +x upload.sh
./upload.sh holiday.jpg`)}
<p><a href="${SCRIPT_PATH}">upload.sh</a></p>
</section>
<section>
<h2>Screenshots</h2>
<p>Bind one of these to a key. Each leaves the link on the clipboard.</p>
<dl>
${tool('ShareX (Windows)', html`Open <a href="${SHAREX_PATH}">${host}${SHAREX_PATH}</a>, then the file that it saves.`)}
${tool('Flameshot', command('flameshot gui --raw | pinhole upload --copy -'))}
${tool('Sway, Hyprland', command('grim -g "$(slurp)" - | pinhole upload --copy -'))}
${tool('scrot', command(`scrot --select --exec 'pinhole upload --copy "$f"'`))}
${tool('macOS', command('screencapture -i /tmp/shot.png && pinhole upload --copy /tmp/shot.png'))}
</dl>
</section>
<section>
<h2>Anything else</h2>
<p>One form, one field. <a href="${API_PAGE_PATH}">The reference</a> has the rest.</p>
${command(`curl -F ${UPLOAD_FIELD}=@holiday.jpg ${baseUrl}${UPLOAD_PATH}`)}
</section>
<p lang="${ctx.messages.lang}"><a class="back" href="/">${ctx.messages.frame.back}</a></p>
</main>`,
  })
}

function command(text: string): Page {
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}

function tool(name: string, how: Page): Page {
  return html`<div><dt>${name}</dt><dd>${how}</dd></div>`
}
