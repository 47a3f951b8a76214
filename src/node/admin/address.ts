/** Where the admin server listens, and where people reach it. */
import { unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'

/** Where people reach the admin server. No trailing slash. */
export function adminUrl({ operatorUrl, operatorListen }: Config): string {
  if (operatorUrl !== null) return operatorUrl
  if (operatorListen.kind !== 'address') return 'http://operator'
  const { host, port } = operatorListen
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The socket, where the configuration names no address. */
export function adminSocket({ dataDir }: Config): string {
  return join(resolve(dataDir), 'operator.sock')
}

/** What a server left that was killed. Throws if one answers there. */
export async function removeStale(path: string): Promise<void> {
  const answers = await new Promise<boolean>((done) => {
    const socket = connect(path, () => {
      socket.destroy()
      done(true)
    })
    socket.on('error', () => done(false))
  })
  if (answers) throw new Error('another server on this DATA_DIR has it open')
  await unlink(path).catch(() => {})
}
