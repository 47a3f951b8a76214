/** A client generated from the OpenAPI document by a third-party tool compiles and works. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { generateApi } from 'swagger-typescript-api'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'

const ROOT = join(import.meta.dirname, '../..')

const USER = `import { Api, type Problem, type Upload } from './client.ts'

export async function roundTrip(baseUrl: string, file: File): Promise<{ upload: Upload; bytes: ArrayBuffer }> {
  const client = new Api({ baseUrl })
  const { data: upload } = await client.api.upload({ file })
  const image = await client.raw.getImage(upload.id)
  const bytes = await image.arrayBuffer()
  const { data: deletion } = await client.api.deleteImage({ key: upload.key })
  const isDeleted: true = deletion.success
  if (!isDeleted) throw new Error('not deleted')
  return { upload, bytes }
}

export async function refusal(baseUrl: string): Promise<Problem> {
  const client = new Api({ baseUrl })
  try {
    await client.api.deleteImage({ key: 'none' })
  } catch (answer) {
    return (answer as { error: Problem }).error
  }
  throw new Error('no refusal')
}
`

it('generates a client that compiles, uploads, downloads, deletes and receives errors', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.cache/generated-client-'))
  const server = await startServer()
  after(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  const { text } = await request(server.url, 'GET', '/openapi.json')
  await generateApi({
    spec: JSON.parse(text),
    output: folder,
    fileName: 'client.ts',
    silent: true,
  })
  await writeFile(join(folder, 'user.ts'), USER)
  await cp(join(ROOT, 'tsconfig.json'), join(folder, 'base.json'))
  const options = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    erasableSyntaxOnly: false,
    verbatimModuleSyntax: false,
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: './base.json',
      compilerOptions: {
        ...options,
        noEmit: false,
        rewriteRelativeImportExtensions: true,
        outDir: 'out',
        rootDir: '.',
      },
      include: ['*.ts'],
    }),
  )
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })

  const { roundTrip, refusal } = await import(pathToFileURL(join(folder, 'out/user.js')).href)
  const bytes = gif()
  const done = await roundTrip(server.url, new File([new Uint8Array(bytes)], 'any.gif'))
  assert.deepEqual(Object.keys(done.upload).sort(), ['delete', 'id', 'key', 'link'])
  assert.deepEqual(Buffer.from(done.bytes), bytes)
  assert.equal((await request(server.url, 'GET', `/raw/${done.upload.id}`)).status, 404)
  assert.equal((await refusal(server.url)).error, 'unknown-key')
})
