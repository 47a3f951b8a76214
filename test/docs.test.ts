/** References in the Markdown pages are valid: linked files and sections, npm scripts, decisions. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { ROOT } from './support/processes/process.ts'

const pages = new Map(
  globSync(['*.md', '{bench,deploy,docs,examples,test}/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  }).map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
)

/** Heading anchors, as GitHub generates them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('the Markdown pages', () => {
  it('link to existing files and sections', () => {
    const broken: string[] = []
    for (const [path, text] of pages) {
      const prose = text.replaceAll(/```[\s\S]*?```/g, '')
      for (const [, link] of prose.matchAll(/(?:\]\(|<img src=")(?!https?:|mailto:)([^)\s"]+)/g)) {
        const [file, anchor] = link!.split('#')
        const target = file === '' ? path : join(dirname(path), file!)
        if (!existsSync(join(ROOT, target))) broken.push(`${path}: ${link}`)
        else if (anchor && pages.has(target) && !anchorsOf(pages.get(target)!).includes(anchor))
          broken.push(`${path}: ${link}`)
      }
    }
    assert.deepEqual(broken, [])
  })

  it('mention only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const named = new Set(
      [...pages.values()].flatMap((text) =>
        [...text.matchAll(/npm (?:run (?:-s )?([a-z][a-z:]*)|(start|test)\b)/g)].map(
          ([, run, own]) => run ?? own!,
        ),
      ),
    )
    assert.ok(named.size > 10)
    assert.deepEqual(
      [...named].filter((name) => !Object.hasOwn(scripts, name)),
      [],
    )
  })

  it('list every decision record', () => {
    const index = pages.get('docs/decisions/README.md')!
    const decisions = [...pages.keys()].filter((path) => /^docs\/decisions\/\d/.test(path))
    assert.deepEqual(
      decisions.filter((path) => !index.includes(`](${path.split('/').at(-1)})`)),
      [],
    )
  })
})
