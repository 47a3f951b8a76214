/** Requests on the admin server of a server under test: a socket in its data folder, or where it listens. */
import { join } from 'node:path'
import { type Answer, request } from './http.ts'

/** `place`: the data folder, or what has the admin server's own address. */
export function atAdmin(
  place: string | { url: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; form?: Record<string, string> } = {},
): Promise<Answer> {
  const { form, headers } = options
  const url = typeof place === 'string' ? `unix:${encodeURI(join(place, 'operator.sock'))}` : place.url
  return request(url, method, path, {
    headers: {
      ...(typeof place === 'string' && { Host: 'operator' }),
      ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(form && { body: Buffer.from(`${new URLSearchParams(form)}`) }),
  })
}
