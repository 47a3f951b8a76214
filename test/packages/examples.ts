/** Runs the programs in `examples/` as a user of the installed package, against a real server. */
import assert from 'node:assert/strict'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { bunBinary, denoBinary } from '../../scripts/runtimes.ts'
import { remove } from '../../src/client/node.ts'
import { cameraJpeg } from '../client/pictures.ts'
import { NODE, ROOT } from '../support/processes/process.ts'
import { startServer } from '../support/processes/server.ts'
import { type Installed, run } from './installed.ts'

const PROGRAMS: Record<string, () => { binary: string; args: string[] }> = {
  node: () => ({ binary: NODE, args: ['upload.mjs'] }),
  // The flags of its first line, and no network access except to the service.
  deno: () => ({
    binary: denoBinary(),
    args: 'run --no-remote --no-prompt --allow-read --allow-net --allow-env --allow-sys upload.ts'.split(' '),
  }),
  bun: () => ({ binary: bunBinary(), args: ['upload.ts'] }),
}

export async function examples(client: Installed): Promise<void> {
  const server = await startServer()
  after(() => server.stop())
  const photo = join(client.folder, 'example.jpg')
  await writeFile(photo, await cameraJpeg(320, 240))
  await cp(join(ROOT, 'examples'), join(client.folder, 'examples'), { recursive: true })

  describe('examples', () => {
    for (const [name, program] of Object.entries(PROGRAMS)) {
      const runExample = async (path: string) => {
        const { binary, args } = program()
        const cwd = join(client.folder, 'examples', name)
        const env = { PATH: process.env.PATH, HOME: client.folder, NO_COLOR: '1' }
        return run(binary, [...args, path, server.url], { cwd, env }).catch((error) => error)
      }

      test(`${name}: compresses, uploads and deletes a photograph`, async () => {
        const { stdout, stderr } = await runExample(photo)
        const [, bytesIn, bytesOut, key] = /(\d+) bytes became (\d+)\..*: (\S+)/.exec(stderr) ?? [stderr]
        assert.equal(Number(bytesIn), (await readFile(photo)).length)
        assert.ok(Number(bytesOut) < 0.9 * Number(bytesIn), stderr)
        assert.match(stderr, /^100 %$/m)
        const raw = `${server.url}/raw${new URL(stdout.trim()).pathname}`
        const stored = await fetch(raw)
        assert.equal(stored.headers.get('content-type'), 'image/jpeg')
        assert.equal((await stored.arrayBuffer()).byteLength, Number(bytesOut))
        await remove(key!, { baseUrl: server.url })
        assert.equal((await fetch(raw)).status, 404)
      })

      test(`${name}: prints the error code for a file that is not a picture`, async () => {
        const { code, stderr } = await runExample(join(client.folder, 'package.json'))
        assert.equal(code, 1, stderr)
        assert.match(stderr, /^unsupported-type /m)
      })
    }

    test('each example has at most 20 lines and a link in docs/client.md', async () => {
      const docs = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
      for (const file of ['node/upload.mjs', 'deno/upload.ts', 'bun/upload.ts', 'browser/main.js']) {
        const text = await readFile(join(ROOT, 'examples', file), 'utf8')
        assert.ok(text.trimEnd().split('\n').length <= 20, file)
        assert.ok(docs.includes(`(../examples/${file})`), file)
      }
    })
  })
}
