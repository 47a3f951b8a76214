import { jsonObject } from '../../json.ts'

/**
 * Whether the service itself says, in its own words, that what was at this raw address is gone. Any server may answer 404 to an
 * address, e.g. a proxy or what stands there while the service is moved. Rejects if none answers.
 */
export async function isGone(raw: string, signal?: AbortSignal): Promise<boolean> {
  // HEAD would tell the status alone. If the picture is there, one byte comes.
  const headers = { Accept: 'application/problem+json', Range: 'bytes=0-0' }
  const answer = await fetch(raw, { headers, redirect: 'manual', cache: 'no-store', signal: signal ?? null })
  const isProblem = answer.headers.get('Content-Type')?.startsWith(headers.Accept)
  if ((answer.status === 404 || answer.status === 410) && isProblem) {
    const code = jsonObject(await answer.text())?.error
    return code === 'not-found' || code === 'removed'
  }
  await answer.body?.cancel()
  return false
}
