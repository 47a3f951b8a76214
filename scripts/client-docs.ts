/** `npm run docs`: writes `docs/client.md`, the SDK's reference, from the output of `deno doc`. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MODES } from '../src/client/types.ts'
import { denoBinary } from './runtimes.ts'

const ROOT = join(import.meta.dirname, '..')

export const DOCUMENT = join(ROOT, 'docs/client.md')

const INTRODUCTION = `# The client

\`pinhole/client\` has the same API in Node (22 or later), Deno, Bun and browsers.

\`\`\`js
import { remove, upload } from 'pinhole/client'

const baseUrl = 'https://pics.example'
const { link, key } = await upload(file, { baseUrl }) // file: a Blob
await remove(key, { baseUrl })
\`\`\`

Complete examples: [Node](../examples/node/upload.mjs), [Deno](../examples/deno/upload.ts),
[Bun](../examples/bun/upload.ts), [browsers](../examples/browser/main.js).

The package is not on a registry. Build it from a checkout:

\`\`\`sh
npm ci && npm run packages                                      # in a checkout of Pinhole
npm install /path/to/checkout/dist/release/pinhole-[0-9]*.tgz   # in your project
\`\`\`

It does not work in service workers. In a browser extension, call it in a page or an offscreen document.

Decoders for HEIC and JPEG XL are fetched with the first such file: in browsers without HEIC support, 500 kB of libheif (LGPL-3.0,
in a separate file).

Recompression takes up to 32 bytes of memory per pixel, e.g. 1.4 GB for a 50-megapixel JPEG. In Node, an image that would need
more than half of the free memory only loses its metadata, and \`fallback\` is \`too-many-pixels\`.

All functions reject with a \`TypeError\` for invalid arguments, and with the signal's reason when cancelled. The service describes
\`Problem\` and \`Challenge\` in its \`/openapi.json\`, and every \`RefusalCode\` at its \`/api\`.
`

/** Left out: types documented by the service's own reference, and types described where they are used. */
export const EXCLUDED = [
  ...['Challenge', 'Problem', 'RefusalCode', 'ImageType'],
  ...['ForeignType', 'Lifetime', 'MODES', 'PrepareOptions', 'RemoveOptions', 'UploadOptions'],
]

/** By the declaration's first word. */
const SECTIONS: Record<string, string> = {
  function: 'Functions',
  class: 'Errors',
  interface: 'Types',
  type: 'Types',
}

export function clientDocs(): string {
  const parts = [INTRODUCTION]
  const node = declarationsOf('src/client/node.ts')
  for (const title of new Set(Object.values(SECTIONS))) {
    parts.push(`## ${title}\n`, ...node.filter(({ section }) => section === title).map(({ text }) => text))
  }
  return parts.join('\n')
}

const fenced = (code: string) => `\`\`\`ts\n${code.trimEnd()}\n\`\`\`\n`

interface Declaration {
  name: string
  section: string
  text: string
}

/** Splits the output of `deno doc`: "Defined in", the declaration, its description, and its members indented by two columns. */
function declarationsOf(entry: string): Declaration[] {
  const env = { ...process.env, NO_COLOR: '1' }
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
  const output = execFileSync(denoBinary(), ['doc', entry], { cwd: ROOT, env, encoding: 'utf8', stdio })
  return output.split(/^Defined in .*\n\n/m).flatMap((block) => {
    const [signature = '', ...rest] = block.trimEnd().split('\n')
    const [, kind = '', name] = /^(?:async )?(\w+) (\w+)/.exec(signature) ?? []
    const section = SECTIONS[kind]
    if (name === undefined || section === undefined || EXCLUDED.includes(name)) return []
    const lines = rest.map((line) => line.slice(2))
    const from = kind === 'interface' || kind === 'class' ? lines.findIndex((line) => MEMBER.test(line)) : -1
    const description = (from < 0 ? lines : lines.slice(0, from)).join('\n').trim()
    const members = from < 0 ? '' : ` {\n${membersOf(lines.slice(from)).join('\n')}\n}`
    return [
      {
        name,
        section,
        text: `### ${name}\n\n${description && `${description}\n\n`}${fenced(shown(signature) + members)}`,
      },
    ]
  })
}

/** As a caller needs it: `MODES` as its values, parameters without underscores, no `async`, which the promise implies. */
function shown(signature: string): string {
  return signature
    .replace(/^async /, '')
    .replaceAll(/(?<=[(, ])_(?=\w+\??: )/g, '')
    .replace('(typeof MODES)[number]', MODES.map((mode) => `"${mode}"`).join(' | '))
}

const MEMBER = /^(?:readonly |get )?\w+\??[:(]/

/**
 * Members, each preceded by its description as a comment: `deno doc` prints the description after the member, indented deeper.
 * Constructors are left out: only the client creates errors.
 */
function membersOf(lines: string[]): string[] {
  const members: string[] = []
  let at = 0
  for (const line of lines) {
    if (line.startsWith('  ')) members.splice(at++, 0, `  // ${line.trim()}`)
    else if (!line.startsWith('constructor(')) at = members.push(`  ${line}`.trimEnd()) - 1
  }
  return members
}

if (import.meta.main) writeFileSync(DOCUMENT, clientDocs())
