/** Writes `docs/client.md`: the SDK's declarations and what they say of themselves. `npm run docs`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const CLIENT = 'src/client'

export const DOCUMENT = join(ROOT, 'docs/client.md')

/** Every file whose exports are the SDK's, and which of them: all, if none is named. */
const SOURCES: [title: string, file: string, names?: string[]][] = [
  ['Functions', 'node.ts'],
  ['', 'api/send.ts', ['send']],
  ['', 'api/remove.ts', ['remove']],
  ['Shapes', 'types.ts'],
  ['Errors', 'errors.ts'],
]

const HEAD = `# The client

\`pinhole/client\` is the same in Node (24 or later) and in browsers. This page is made from its source by \`npm run docs\`.

\`\`\`js
import { upload } from 'pinhole/client'

const { link, key } = await upload(blob, { baseUrl: 'https://pics.example' })
\`\`\`

Every upload is named (\`Idempotency-Key\`), so that a try after a lost answer stores nothing twice.
`

const DECLARATION =
  /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (?:async )?(function|interface|class|type|const) (\w+)/gm

export function clientDocs(): string {
  let text = HEAD
  for (const [title, file, names] of SOURCES) {
    if (title !== '') text += `\n## ${title}\n`
    const source = readFileSync(join(ROOT, CLIENT, file), 'utf8')
    for (const match of source.matchAll(DECLARATION)) {
      const [, comment = '', kind, name] = match
      if (names !== undefined && !names.includes(name!)) continue
      const from = match.index + match[0].lastIndexOf('export ')
      text += `\n### ${name}\n\n`
      const said = comment.replace(/^ *\* ?/gm, '').trim()
      if (said !== '') text += `${said}\n\n`
      text += `\`\`\`ts\n${declaration(kind!, source.slice(from))}\n\`\`\`\n`
    }
  }
  return text
}

/** Up to its end, without bodies. */
function declaration(kind: string, rest: string): string {
  if (kind === 'function') return rest.slice(0, rest.search(/ \{\n/))
  if (kind === 'type' || kind === 'const') return rest.slice(0, rest.search(/\n(\n|$)/))
  const whole = rest.slice(0, rest.search(/^\}/m) + 1)
  const body = whole.search(/\n\n {2}constructor/)
  return kind === 'class' && body >= 0 ? `${whole.slice(0, body)}\n}` : whole
}

if (import.meta.main) writeFileSync(DOCUMENT, clientDocs())
