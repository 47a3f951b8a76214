/** Call when code is missing: if the service was updated and no longer has this page's code, offers the new version. */
export async function checkVersion(): Promise<void> {
  const hint = document.getElementById('outdated')
  const { src } = document.querySelector<HTMLScriptElement>('script[src]')!
  const answer = await fetch(src, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  if (hint && answer?.status === 404) hint.hidden = false
}
