import { readdir, readlink } from 'node:fs/promises'

/** Paths of the files that this process has open. Empty on systems without `/proc`. */
export async function openFiles(): Promise<string[]> {
  const links = await readdir('/proc/self/fd').catch(() => [])
  return Promise.all(links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => '')))
}
