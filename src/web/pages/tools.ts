/** Page at `/tools`: how to upload from other tools. English only. */
import { html } from 'hono/html'
import {
  AGENTS_PATH,
  API_PAGE_PATH,
  EXPIRES_PARAMETER,
  ID_LENGTH,
  rawPath,
  SCRIPT_PATH,
  SHAREX_PATH,
  UPLOAD_FIELD,
  UPLOAD_PATH,
} from '../../protocol.ts'
import { type Page, type PageContext, page } from './page.ts'

export function toolsPage(ctx: PageContext): Page {
  const { baseUrl } = ctx
  const host = new URL(baseUrl).host
  const direct = `${baseUrl}${rawPath('')}`
  return page(ctx, {
    title: 'Use it elsewhere · Pinhole',
    kind: 'reference',
    style: 'reference',
    head: html`<meta name="description" content="Upload from a terminal, a screenshot tool or a program.">`,
    main: html`<main lang="en">
<h1>Use it elsewhere</h1>
<p class="lead">From a terminal, a screenshot tool, or your own program.</p>
<section>
<h2>Script</h2>
<p>Needs only a shell and curl, and saves the deletion links on your machine. It’s short, so read it first.</p>
${command(`curl -fsSo upload.sh ${baseUrl}${SCRIPT_PATH} && chmod +x upload.sh
./upload.sh holiday.jpg`)}
<p><a href="${SCRIPT_PATH}">upload.sh</a></p>
</section>
<section>
<h2>Screenshots</h2>
<p>Bind one of these to a keyboard shortcut. Each copies the link to the clipboard.</p>
<dl>
${tool('ShareX (Windows)', html`Open <a href="${SHAREX_PATH}">${host}${SHAREX_PATH}</a>, then the file it downloads. For screenshots that expire after a day: <a href="${SHAREX_PATH}?${EXPIRES_PARAMETER}=1d">${host}${SHAREX_PATH}?${EXPIRES_PARAMETER}=1d</a>.`)}
${tool('Flameshot', command('flameshot gui --raw | ./upload.sh | xclip -selection clipboard'))}
${tool('Sway, Hyprland', command('grim -g "$(slurp)" - | ./upload.sh | wl-copy'))}
${tool('scrot', command(`scrot --select --exec './upload.sh "$f" | xclip -selection clipboard'`))}
${tool('macOS', command('screencapture -i /tmp/shot.png && ./upload.sh /tmp/shot.png | pbcopy && rm /tmp/shot.png'))}
</dl>
</section>
<section>
<h2>Editors and notes</h2>
<p>These need the URL of the image file. With <code>PINHOLE_DIRECT=1</code>, the script prints it.</p>
<dl>
${tool('Typora', html`Preferences, Image, When Insert: Upload image. Image Uploader: Custom Command. Command:${command('env PINHOLE_DIRECT=1 /path/to/upload.sh')}`)}
${tool(
  'PicGo',
  html`Version 3 or later. Install the <code>web-uploader</code> plugin, and fill in:${command(`url: ${baseUrl}${UPLOAD_PATH}
paramName: ${UPLOAD_FIELD}
jsonPath: link`)}Then add a URL rewrite rule:${command(`match: /([0-9A-Za-z]{${ID_LENGTH}})$
replace: ${rawPath('$1')}`)}`,
)}
${tool(
  'PicList',
  html`Choose Advanced Custom, and fill in:${command(`endpoint: ${baseUrl}${UPLOAD_PATH}
method: POST
formDataKey: ${UPLOAD_FIELD}
resDataPath: id
customPrefix: ${direct}`)}`,
)}
${tool(
  'uPic (macOS)',
  html`Preferences, Host, Add, Custom, and fill in:${command(`API URL: ${baseUrl}${UPLOAD_PATH}
Request method: POST
File field: ${UPLOAD_FIELD}
URL path: ["id"]
Domain: ${direct}`)}`,
)}
${tool('Obsidian', html`The Image Auto Upload plugin hands pictures to PicGo or PicList. Set up one of them as above.`)}
</dl>
</section>
<section>
<h2>iPhone and iPad</h2>
<p>In Shortcuts, create a shortcut that appears in the share sheet, receives images, and has these actions:</p>
<ol>
<li>Convert Image: Shortcut Input to JPEG, Preserve Metadata off. The camera saves HEIC, which isn’t accepted.</li>
<li>Get Contents of URL: <code>${baseUrl}${UPLOAD_PATH}</code>. Method POST, Request Body Form, a field of type File named <code>${UPLOAD_FIELD}</code>: Converted Image.</li>
<li>Get Dictionary Value: <code>link</code>.</li>
<li>Copy to Clipboard, and Show Notification.</li>
</ol>
<p>Save the value of <code>delete</code> too, for example in a note: you need it to delete the picture.</p>
</section>
<section>
<h2>Agents</h2>
<p><a href="${AGENTS_PATH}">${host}${AGENTS_PATH}</a> tells AI agents how to upload with curl, what to keep, and what to ask you first.</p>
</section>
<section>
<h2>Anything else</h2>
<p>An upload is one form with one field. The <a href="${API_PAGE_PATH}">API reference</a> has the details.</p>
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
