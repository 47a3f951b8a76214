/** The real PicGo, with the plugin and settings from `/tools`. Long, because PicGo takes seconds to load. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { serverFor } from '../support/processes/server.ts'

test('PicGo uploads with the settings from /tools, and returns the address of the file', async (t) => {
  const server = await serverFor(t)
  const page = await (await fetch(`${server.url}/tools`)).text()
  const [recipe] = /<dt>PicGo<\/dt>.*?<\/dd>/s.exec(page) ?? assert.fail('no recipe')
  const setting = (name: string) =>
    new RegExp(`^(?:.*<code>)?${name}: (.*?)(?:</code>.*)?$`, 'm').exec(recipe)?.[1] ?? assert.fail(name)
  const plugin = /<code>(\S*?)<\/code> plugin/.exec(recipe)?.[1]
  const own = await folderOf(t)
  const config = join(own, 'config.json')
  await symlink(resolve('node_modules'), join(own, 'node_modules'))
  await writeFile(
    join(own, 'package.json'),
    JSON.stringify({ dependencies: { [`picgo-plugin-${plugin}`]: '*' } }),
  )
  const settings = { url: setting('url'), paramName: setting('paramName'), jsonPath: setting('jsonPath') }
  await writeFile(
    config,
    JSON.stringify({
      picBed: { uploader: plugin, current: plugin, [plugin!]: settings },
      settings: { urlRewrite: { rules: [{ match: setting('match'), replace: setting('replace') }] } },
      picgoPlugins: { [`picgo-plugin-${plugin}`]: true },
    }),
  )
  const image = gif()
  await writeFile(join(own, 'picture.gif'), image)
  const words = [
    resolve('node_modules/picgo/bin/picgo'),
    '--config',
    config,
    'upload',
    join(own, 'picture.gif'),
  ]
  // Without the test runner's preloads, because PicGo is a third-party program.
  const env = { PATH: process.env.PATH, HOME: own, NO_COLOR: '1' }
  const { stdout } = await promisify(execFile)(process.execPath, words, { env })
  const link = stdout.trim().split('\n').at(-1)!
  assert.match(link, new RegExp(`^${server.baseUrl}/raw/[0-9A-Za-z]{11}$`))
  const raw = await fetch(link)
  assert.equal(raw.headers.get('Content-Type'), 'image/gif')
  assert.deepEqual(Buffer.from(await raw.arrayBuffer()), image)
})
