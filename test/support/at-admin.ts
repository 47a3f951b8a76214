/** Requests to a server's admin server, by the socket in its data folder or by URL. */
import { join } from 'node:path'
import { type Answer, request } from './http.ts'

/** `target`: the server's data folder, or the admin server's URL. */
export function atAdmin(
  target: string | { url: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; form?: Record<string, string> } = {},
): Promise<Answer> {
  const { form, headers } = options
  const url = typeof target === 'string' ? `unix:${encodeURI(join(target, 'operator.sock'))}` : target.url
  return request(url, method, path, {
    headers: {
      ...(typeof target === 'string' && { Host: 'operator' }),
      ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(form && { body: Buffer.from(`${new URLSearchParams(form)}`) }),
  })
}
