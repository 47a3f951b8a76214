/** The SDK's types, with each of TypeScript's module resolutions. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { NODE, ROOT } from '../support/processes/process.ts'
import { type Installed, NAMES, run } from './installed.ts'

const RESOLUTIONS = {
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
}

const USE = `import { type BrowserSettings, configure, type Mode, type Progress, Refusal, remove, ServerRefusal, Unreachable, upload } from '${NAMES.client}/client'
const settings: BrowserSettings = { workerUrl: '/worker/worker.js', withoutWorker: 'scrub' }
configure(settings)
const mode: Mode = 'lossless'
const onProgress = (progress: Progress) => { if (progress.stage === 'uploading') progress.percent.toFixed() }
const { id, link, key, delete: gone, raw, bytesIn, bytesOut, type, action } =
  await upload(new Blob([]), { mode, onProgress, retries: 1, baseUrl: 'https://pics.example', signal: AbortSignal.timeout(1) })
const texts: string[] = [id, link, key, gone, raw, type, action]
await remove(key).catch((error: unknown) => {
  if (error instanceof ServerRefusal) error.problem?.detail.trim()
  if (error instanceof Refusal) error.code.trim()
  if (error instanceof Unreachable) error.attempts.toFixed()
})
console.log(texts, bytesIn - bytesOut)
`

export function types(client: Installed): void {
  describe('the SDK’s types', () => {
    async function compile(name: string, options: object, code = USE): Promise<string> {
      const folder = join(client.folder, 'types', name)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'use.ts'), code)
      const compilerOptions = {
        ...{ noEmit: true, strict: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
        ...options,
      }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }))
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
      return run(NODE, [tsc, '-p', '.'], { cwd: folder }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
    }

    for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
      for (const customConditions of [undefined, ['browser']]) {
        for (const skipLibCheck of [true, false]) {
          const title = `${name}${customConditions ? ', for browsers' : ''}${skipLibCheck ? '' : ', declarations checked too'}`
          test(title, async () => {
            const options = { ...resolution, skipLibCheck, ...(customConditions && { customConditions }) }
            assert.equal(await compile(title.replaceAll(/\W+/g, '-'), options), '')
          })
        }
      }
    }

    test('an invalid mode is a type error', async () => {
      const wrong = USE.replace("'lossless'", "'best'")
      assert.match(await compile('wrong', RESOLUTIONS.nodenext, wrong), /'"best"' is not assignable/)
    })
  })
}
