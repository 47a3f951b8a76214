/** An in-memory Ceph store on one machine, for tests: monitor, manager, one OSD on `memstore`, and the S3 gateway. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import { listen } from '../test/support/listen.ts'
import { isInstalled } from '../test/support/processes/caches.ts'
import { until } from '../test/support/until.ts'
import { cephConfig } from './ceph-config.ts'
import { isResponding, SERVICES_FOLDER, type Services, STATE_FILE } from './services-state.ts'

const run = promisify(execFile)

export const cephPackages = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-mgr', 'ceph-common']

const PROGRAMS = [
  'radosgw',
  'radosgw-admin',
  'ceph-mon',
  'ceph-osd',
  'ceph-mgr',
  'ceph',
  'monmaptool',
  'ceph-authtool',
]

/** Timeout of commands that talk to the cluster. Unit: milliseconds. */
const COMMAND_TIMEOUT_MS = 60_000
const GATEWAY_TIMEOUT_MS = 90_000
/** How long a daemon may take to exit before it is killed. Unit: milliseconds. */
const STOP_TIMEOUT_MS = 10_000

export async function missingPrograms(): Promise<string[]> {
  const found = await Promise.all(PROGRAMS.map((program) => isInstalled(program)))
  return PROGRAMS.filter((_, index) => !found[index])
}

/** On failure, stops everything and throws an `Error` with the end of the logs. */
export async function startCeph(): Promise<Services> {
  await stopCeph()
  try {
    return await start(SERVICES_FOLDER)
  } catch (error) {
    const logs = await logTails(SERVICES_FOLDER)
    await stopCeph()
    throw new Error(`Ceph did not start.\n${logs}`, { cause: error })
  }
}

async function start(folder: string): Promise<Services> {
  for (const name of ['mon', 'osd', 'mgr', 'log']) await mkdir(join(folder, name), { recursive: true })
  await chmod(folder, 0o700)
  const [monV2, monV1, gateway] = (await freePorts(3)) as [number, number, number]
  const conf = join(folder, 'ceph.conf')
  const keyring = join(folder, 'keyring')
  const fsid = crypto.randomUUID()
  const monAddress = `[v2:127.0.0.1:${monV2},v1:127.0.0.1:${monV1}]`
  await writeFile(conf, cephConfig({ folder, fsid, monAddress, gateway }))
  const command = (program: string, ...args: string[]) =>
    run(program, ['-c', conf, ...args], { timeout: COMMAND_TIMEOUT_MS })

  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', monAddress, join(folder, 'monmap')])
  const newKey = ['--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *']
  await run('ceph-authtool', ['--create-keyring', keyring, ...newKey])
  const caps = ['mon', 'osd', 'mds', 'mgr'].flatMap((service) => ['--cap', service, 'allow *'])
  for (const entity of ['client.admin', 'client.rgw', 'mgr.x', 'osd.0']) {
    await run('ceph-authtool', [keyring, '--gen-key', '-n', entity, ...caps])
  }
  await command('ceph-mon', '--mkfs', '-i', 'a', '--monmap', join(folder, 'monmap'), '--keyring', keyring)
  await command('ceph-mon', '-i', 'a')
  const osd = crypto.randomUUID()
  await command('ceph', 'osd', 'new', osd, '0')
  await command('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd)
  await command('ceph-osd', '-i', '0')
  await command('ceph-mgr', '-i', 'x')
  await command('radosgw', '-n', 'client.rgw')
  const endpoint = `http://127.0.0.1:${gateway}`
  await until(`the gateway answers at ${endpoint}`, () => isResponding(endpoint), GATEWAY_TIMEOUT_MS)

  const services: Services = {
    folder,
    endpoint,
    accessKeyId: 'pinhole',
    secretAccessKey: 'pinhole-secret',
    fullAccessKeyId: 'pinhole-full',
    fullSecretAccessKey: 'pinhole-full-secret',
  }
  const addUser = (uid: string, key: string, secret: string) =>
    command(
      'radosgw-admin',
      'user',
      'create',
      `--uid=${uid}`,
      `--display-name=${uid}`,
      `--access-key=${key}`,
      `--secret-key=${secret}`,
    )
  await addUser('pinhole', services.accessKeyId, services.secretAccessKey)
  await addUser('full', services.fullAccessKeyId, services.fullSecretAccessKey)
  const quota = ['--uid=full', '--quota-scope=bucket']
  await command('radosgw-admin', 'quota', 'set', ...quota, '--max-objects=2')
  await command('radosgw-admin', 'quota', 'enable', ...quota)
  await warmUp(services)
  await writeFile(STATE_FILE, JSON.stringify(services, null, 2))
  return services
}

/** The gateway creates its pools with the first bucket and object. Done here, so that no test's timeout pays for it. */
async function warmUp({ endpoint, accessKeyId, secretAccessKey }: Services): Promise<void> {
  const aws = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region: 'us-east-1', retries: 0 })
  for (const [method, path] of [
    ['PUT', '/warm-up'],
    ['PUT', '/warm-up/object'],
    ['GET', '/warm-up/object'],
    ['DELETE', '/warm-up/object'],
    ['DELETE', '/warm-up'],
  ]) {
    const response = await aws.fetch(endpoint + path, {
      method,
      signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    await response.body?.cancel()
  }
}

/** Stops all daemons of our folder, and removes the folder. `false` if there was none. */
export async function stopCeph(): Promise<boolean> {
  const names = await readdir(SERVICES_FOLDER).catch(() => null)
  if (names === null) return false
  const pidFiles = names.filter((name) => name.endsWith('.pid'))
  // Gateway first, monitor last: each daemon needs the later ones to shut down.
  const order = ['client', 'mgr', 'osd', 'mon']
  pidFiles.sort((a, b) => order.indexOf(a.split('.')[0]!) - order.indexOf(b.split('.')[0]!))
  for (const name of pidFiles) await stopDaemon(join(SERVICES_FOLDER, name))
  await rm(SERVICES_FOLDER, { recursive: true, force: true })
  return true
}

async function stopDaemon(pidFile: string): Promise<void> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10)
  if (!(await isOurs(pid))) return
  process.kill(pid, 'SIGTERM')
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (await isOurs(pid)) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL')
    await sleep(50)
  }
}

/** The PID may have been reused by another process. A zombie has no command line. */
async function isOurs(pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.includes(SERVICES_FOLDER)
}

/** Distinct free ports. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(servers.map((server) => listen(server)))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function logTails(folder: string): Promise<string> {
  const log = join(folder, 'log')
  const names = await readdir(log).catch(() => [])
  const tails = names.map(async (name) => {
    const lines = (await readFile(join(log, name), 'utf8')).trimEnd().split('\n')
    return `--- ${name}\n${lines.slice(-5).join('\n')}`
  })
  return (await Promise.all(tails)).join('\n')
}
