/** Writing of files that only their owner can read. Node only. */
import { open } from 'node:fs/promises'

/** Writes a whole file and flushes its bytes, but not its name. `flags`: see fs.open; `wx` fails if the file exists. */
export async function writeFlushed(
  path: string,
  bytes: Uint8Array | string,
  flags: 'w' | 'wx' = 'wx',
): Promise<void> {
  await using handle = await open(path, flags, 0o600)
  await handle.writeFile(bytes)
  await handle.sync()
}
