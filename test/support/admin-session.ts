/** A session of the admin server, as used by a browser without JavaScript. */
import assert from 'node:assert/strict'
import { atAdmin } from './at-admin.ts'
import type { Answer } from './http.ts'
import type { RunningServer } from './processes/server.ts'

export interface AdminSession {
  readonly cookie: string
  readonly formToken: string
  get(path: string): Promise<Answer>
  post(path: string, form: Record<string, string>): Promise<Answer>
}

export async function adminSession(server: RunningServer): Promise<AdminSession> {
  const { stdout } = await server.operator(['login'])
  const token = /^\/login\?token=(\S+)\n$/.exec(stdout)?.[1] ?? assert.fail(stdout)
  const loggedIn = await atAdmin(server.dataDir, 'POST', '/login', { form: { token } })
  assert.equal(loggedIn.status, 303, loggedIn.text)
  const cookie = loggedIn.headers.get('Set-Cookie')!.split(';')[0]!
  const get = (path: string) => atAdmin(server.dataDir, 'GET', path, { headers: { Cookie: cookie } })
  const formToken = /name="form-token" value="([0-9a-f]{64})"/.exec((await get('/')).text)![1]!
  return {
    cookie,
    formToken,
    get,
    post: (path, form) =>
      atAdmin(server.dataDir, 'POST', path, {
        headers: { Cookie: cookie },
        form: { 'form-token': formToken, ...form },
      }),
  }
}
