import { readdir, readFile } from 'node:fs/promises'

/** `null` where there is no /proc. */
export async function childrenOf(pid: number): Promise<number[] | null> {
  const pids = await readdir('/proc').catch(() => null)
  if (pids === null) return null
  const found: number[] = []
  for (const name of pids.filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    if (Number(/\) \S (\d+)/.exec(stat)?.[1]) === pid) found.push(Number(name))
  }
  return found
}
