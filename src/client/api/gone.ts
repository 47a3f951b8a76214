import { parseJsonObject } from '../../json.ts'

/**
 * Whether the service itself reports that the image at this raw address is gone. A bare 404 is not enough: it may come from a
 * proxy or a placeholder page. Rejects if there is no response.
 */
export async function isGone(raw: string, signal?: AbortSignal): Promise<boolean> {
  // A response to HEAD would lack the error code. If the image exists, this fetches one byte.
  const headers = { Accept: 'application/problem+json', Range: 'bytes=0-0' }
  const answer = await fetch(raw, { headers, redirect: 'manual', cache: 'no-store', signal: signal ?? null })
  const isProblem = answer.headers.get('Content-Type')?.startsWith(headers.Accept)
  if ((answer.status === 404 || answer.status === 410) && isProblem) {
    const code = parseJsonObject(await answer.text())?.error
    return code === 'not-found' || code === 'removed'
  }
  await answer.body?.cancel()
  return false
}
