/** Runs the commands of "Try it on this machine" in deploy/cloudflare/README.md in a copy of the repository. */

import assert from 'node:assert/strict'
import { cp, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { freePort } from '../support/processes/caches.ts'
import { killGroup, launch, type Process, ROOT, run } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

/** Makes Wrangler run offline and without prompts. */
const OFFLINE = { CI: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }

let copy: string
let server: Process | undefined
before(async () => {
  copy = await newFolder()
})
after(async () => {
  if (server !== undefined) killGroup(server.pid)
  await server?.ended
  await rm(copy, { recursive: true, force: true })
})

async function copyRepository(): Promise<void> {
  const { stdout } = await run(['-c', 'git ls-files --cached --others --exclude-standard'], {}, 'bash')
  const isNeeded = (file: string) => /^(src|bin|build|scripts|deploy|runtime)\/|^[^/]+$/.test(file)
  for (const file of stdout.trim().split('\n').filter(isNeeded)) {
    await cp(join(ROOT, file), join(copy, file)).catch((error) => {
      // Deleted but not yet committed.
      if (error.code !== 'ENOENT') throw error
    })
  }
  // Uses the modules that `npm ci` installed.
  for (const folder of ['node_modules', 'runtime/node_modules']) {
    await symlink(join(ROOT, folder), join(copy, folder)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** The shell commands under a heading, without comments. */
async function commandsOf(heading: string, port: number): Promise<string[]> {
  const text = await readFile(join(copy, 'deploy/cloudflare/README.md'), 'utf8')
  const section = text.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!)
  return blocks
    .join('')
    .replaceAll('8787', `${port}`)
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+# .*/, ''))
}

it('uploads, views and deletes an image with the documented commands', async () => {
  await copyRepository()
  const port = await freePort()
  const commands = await commandsOf('Try it on this machine', port)
  assert.equal(commands.shift(), 'npm ci && cd deploy/cloudflare')
  const folder = join(copy, 'deploy/cloudflare')
  await cp(join(ROOT, 'test/corpus/camera.jpg'), join(folder, 'cat.jpg'))
  const type = (command: string) => ['-c', `cd '${folder}' && ${command}`]

  let uploaded: { id: string; key: string } | undefined
  const typed: string[] = []
  for (const command of commands) {
    typed.push(command)
    if (command === 'npx wrangler dev') {
      // Uses a free port instead of the documented one.
      server = launch(type(`${command} --port ${port} --inspector-port 0`), OFFLINE, 'bash')
      const { output } = server
      await until(
        'the server is ready',
        () => {
          if (server!.child.exitCode !== null) throw new Error(output.stdout + output.stderr)
          return output.stdout.includes('Ready on')
        },
        120_000,
      )
      continue
    }
    const ran = await run(type(command.replace('KEY', uploaded?.key ?? '')), OFFLINE, 'bash')
    assert.equal(ran.code, 0, `${command}\n${ran.stdout}\n${ran.stderr}`)
    if (command.startsWith('curl -F')) {
      uploaded = JSON.parse(ran.stdout)
      const site = `http://127.0.0.1:${port}`
      const raw = await request(site, 'GET', `/raw/${uploaded!.id}`)
      assert.deepEqual([raw.status, raw.headers.get('Content-Type')], [200, 'image/jpeg'])
      const page = await request(site, 'GET', `/${uploaded!.id}`, { headers: { Accept: 'text/html' } })
      assert.match(page.text, new RegExp(`/raw/${uploaded!.id}`))
    }
    if (command.startsWith('curl -X DELETE')) {
      assert.deepEqual(JSON.parse(ran.stdout), { success: true })
      assert.equal((await request(`http://127.0.0.1:${port}`, 'GET', `/raw/${uploaded!.id}`)).status, 404)
    }
  }
  assert.deepEqual(
    typed.map((command) => command.split(' ').slice(0, 3).join(' ')),
    ['npm run cloudflare', 'npx wrangler d1', 'npx wrangler dev', 'curl -F file=@cat.jpg', 'curl -X DELETE'],
  )
})
