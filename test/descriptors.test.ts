/** A server that runs out of file descriptors logs it once a minute and counts it in the metrics. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { atAdmin } from './support/at-admin.ts'
import { skipWithout } from './support/processes/caches.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'

const run = promisify(execFile)

test('logs exhausted file descriptors once, and counts them', {
  skip: await skipWithout('prlimit'),
}, async () => {
  const server: RunningServer = await startServer({ CONNECTIONS_PER_ADDRESS: '0' })
  const sockets: Socket[] = []
  try {
    // Open descriptors stay open, with room for a few more.
    await run('prlimit', ['--pid', `${server.pid}`, '--nofile=80:80'])
    const lines = () => server.stderr().match(/"no file descriptor is left: [^\n]*/g) ?? []
    await until('it is logged', () => {
      // Silent connections are closed after a while, so open new ones.
      const open = sockets.filter(({ destroyed }) => !destroyed).length
      for (let count = open; count < 200; count++) {
        const socket = connect(server.port, '127.0.0.1')
        socket.on('error', () => {})
        sockets.push(socket)
      }
      return lines().length > 0
    })
    const count = async () => {
      const { text } = await atAdmin(server.dataDir, 'GET', '/metrics')
      return Number(/^pinhole_descriptors_exhausted_total (\d+)$/m.exec(text)?.[1])
    }
    for (const socket of sockets) socket.destroy()
    await until('it is counted', async () => (await count().catch(() => 0)) > 0)
    assert.equal(lines().length, 1)
    assert.match(server.stderr(), /EMFILE/)
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
})
