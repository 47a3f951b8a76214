/** The admin server's listening address and its public URL. */
import { unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'

/** The admin server's public URL. No trailing slash. */
export function adminUrl({ operatorUrl, operatorListen }: Config): string {
  if (operatorUrl !== null) return operatorUrl
  if (operatorListen.kind !== 'address') return 'http://operator'
  const { host, port } = operatorListen
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The Unix socket used when the configuration names no address. */
export function adminSocket({ dataDir }: Config): string {
  return join(resolve(dataDir), 'operator.sock')
}

/** Removes the socket left by a killed server. Throws if a server still answers on it. */
export async function removeStale(path: string): Promise<void> {
  const isInUse = await new Promise<boolean>((done) => {
    const socket = connect(path, () => {
      socket.destroy()
      done(true)
    })
    socket.on('error', () => done(false))
  })
  if (isInUse) throw new Error('another server with this DATA_DIR is using the socket')
  await unlink(path).catch(() => {})
}
