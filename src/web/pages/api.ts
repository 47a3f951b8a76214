/** API reference at `/api`, rendered from the OpenAPI document. English only. */
import { html } from 'hono/html'
import type { ApiDocument, ApiResponse, Header, Operation, Parameter, Schema } from '../../openapi.ts'
import { API_DOCUMENT_PATH, TOOLS_PATH } from '../../protocol.ts'
import { type Page, type PageContext, page } from './page.ts'

/** Table row for an error code. */
export interface ProblemRow {
  status: number
  when: string
  remedy: string
}

export function apiPage(ctx: PageContext, document: ApiDocument, problems: Record<string, ProblemRow>): Page {
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: taggedWith(document, name),
  }))
  return page(ctx, {
    title: 'API · Pinhole',
    kind: 'reference',
    style: 'reference',
    head: html`<meta name="description" content="${document.info.summary}">
<link rel="alternate" type="application/json" href="${API_DOCUMENT_PATH}">`,
    main: html`<main lang="en">
<h1>API</h1>
<p class="lead">${document.info.summary} ${withCode(document.info.description)}</p>
<nav aria-label="On this page"><ul>
${groups.map(({ name }) => html`<li><a href="#${name.toLowerCase()}">${name}</a></li>\n`)}
<li><a href="#errors">Errors</a></li>
<li><a href="${API_DOCUMENT_PATH}">OpenAPI</a></li>
<li><a href="${TOOLS_PATH}">Use it elsewhere</a></li>
</ul></nav>
${groups.map(
  ({ name, description, operations }) => html`<section aria-labelledby="${name.toLowerCase()}">
<h2 id="${name.toLowerCase()}">${name}</h2>
<p>${description}</p>
<ul class="jumps">${operations.map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}"><code>${method} ${path}</code></a></li>`,
  )}</ul>
${operations.map((tagged) => operationOf(document, tagged))}
</section>
`,
)}
<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
<p>Errors are <code>application/problem+json</code> with the code in <code>error</code>, a human-readable sentence in <code>detail</code>, and a link to its row here in <code>type</code>.</p>
<details class="folds"><summary class="unfolds">${Object.keys(problems).length} codes</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Table of errors"><table>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">When</th><th scope="col">What to do</th></tr></thead>
<tbody>
${Object.entries(problems).map(
  ([code, { status, when, remedy }]) =>
    html`<tr id="${code}"><th scope="row"><a href="#${code}"><code>${code}</code></a></th><td>${status}</td><td>${when}</td><td>${remedy}</td></tr>\n`,
)}
</tbody>
</table></div>
</details>
</section>
<p lang="${ctx.messages.lang}"><a class="back" href="/">${ctx.messages.frame.back}</a></p>
</main>`,
  })
}

interface TaggedOperation {
  method: string
  path: string
  operation: Operation
}

function taggedWith({ paths }: ApiDocument, tag: string): TaggedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function operationOf(document: ApiDocument, { method, path, operation }: TaggedOperation): Page {
  const { operationId, summary, description, parameters = [], responses } = operation
  const samples = operation['x-codeSamples'] ?? []
  // The ID is on an inner element, so that a link to it opens the surrounding `details`.
  return html`<details class="folds operation"><summary class="unfolds"><h3><code>${method} ${path}</code> ${summary}</h3></summary>
<div id="${operationId}">
${description ? html`<p>${withCode(description)}</p>` : ''}
${parameters.length > 0 ? html`<dl>${parameters.map(parameterOf)}</dl>` : ''}
${samples.length > 0 ? html`<div class="samples">${samples.map(({ label, source }) => html`<figure><figcaption>${label}</figcaption><pre tabindex="0"><code>${source}</code></pre></figure>\n`)}</div>` : ''}
<details><summary class="unfolds">Responses</summary>
${Object.entries(responses).map(([status, response]) => responseOf(document, status, response))}
</details>
</div>
</details>
`
}

function parameterOf({ name, in: location, description, required }: Parameter): Page {
  return html`<div><dt><code>${name}</code> <small>${location}${required ? ', required' : ''}</small></dt><dd>${description}</dd></div>\n`
}

function responseOf(document: ApiDocument, status: string, response: ApiResponse): Page {
  const { description, headers = {}, content = {} } = response
  const example = Object.values(content['application/json']?.examples ?? {})[0]?.value
  return html`<h4>${status}</h4>
<p>${withCode(description)}</p>
${Object.keys(content).length > 0 ? html`<p class="soft">${Object.keys(content).join(', ')}</p>` : ''}
${example === undefined ? '' : html`<pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>`}
<dl class="soft">${Object.entries(headers).map(([name, ref]) => headerOf(name, resolve(document, ref)))}</dl>
`
}

function headerOf(name: string, { description, required, schema, example }: Header): Page {
  return html`<div><dt><code>${name}</code>${required ? '' : html` <small>sometimes</small>`}</dt><dd>${description} ${shownValue(schema, example)}</dd></div>\n`
}

function shownValue({ const: only }: Schema, example: unknown): Page | string {
  const value = only ?? example
  return value === undefined ? '' : html`<code>${value}</code>`
}

function resolve(document: ApiDocument, { $ref }: { $ref: string }): Header {
  return document.components.headers[$ref.slice($ref.lastIndexOf('/') + 1)]!
}

/** Renders text of the document: backticks become `code` elements. */
function withCode(text: string): Page {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}
