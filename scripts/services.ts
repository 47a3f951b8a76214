/**
 * Starts and stops the real services that tests run against: a Ceph Object Gateway, for S3.
 *
 *     npm run services -- start|stop|status
 */
import { cephPackages, missingPrograms, startCeph, stopCeph } from './ceph.ts'
import { readServices } from './services-state.ts'

async function start(): Promise<number> {
  const running = await readServices()
  if (running !== null) {
    console.log(`already running: S3 at ${running.endpoint}`)
    return 0
  }
  const missing = await missingPrograms()
  if (missing.length > 0) {
    console.error(`missing: ${missing.join(', ')}. On Debian:`)
    console.error(`  apt-get install --no-install-recommends ${cephPackages.join(' ')}`)
    return 1
  }
  const startedAt = performance.now()
  const { endpoint } = await startCeph()
  console.log(`S3 (Ceph Object Gateway) at ${endpoint} after ${seconds(startedAt)} s`)
  return 0
}

async function stop(): Promise<number> {
  const stopped = await stopCeph()
  console.log(stopped ? 'stopped, and its data removed' : 'nothing is running')
  return 0
}

async function status(): Promise<number> {
  const running = await readServices()
  console.log(running === null ? 'S3: not running' : `S3: ${running.endpoint}, data in ${running.folder}`)
  return running === null ? 1 : 0
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1)
}

const commands: Record<string, () => Promise<number>> = { start, stop, status }
const command = commands[process.argv[2] ?? '']
if (command === undefined) {
  console.error('usage: npm run services -- start|stop|status')
  process.exitCode = 2
} else {
  process.exitCode = await command()
}
