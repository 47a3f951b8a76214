/** Starts the measured servers: Pinhole and the references. */
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { configureNginx } from '../../test/support/processes/caches.ts'
import { type Child, startChild } from './child.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The arguments of `node` in the package's start command. */
const START: string[] = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .slice(1)

/** Removes the quotas: clients can set their address, and the daily limit is practically infinite. */
export const UNLIMITED = { TRUSTED_PROXIES: '127.0.0.1/32', UPLOADS_PER_DAY: '1000000000' }

/** Starts Pinhole like `npm start`, in `dir`. Its data are in `<dir>/data`. `env`: overrides of the defaults. */
export async function startPinhole(dir: string, env: Record<string, string> = {}): Promise<Child> {
  await mkdir(dir, { recursive: true })
  return startChild({
    command: process.execPath,
    args: () => START.map((word) => (word.includes('/') ? path.join(root, word) : word)),
    cwd: dir,
    env: (port) => ({
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
      ...env,
    }),
    logPath: path.join(dir, 'pinhole.log'),
  })
}

/** Starts a server from `references/` with its port and `args` as arguments. */
export async function startReference(
  name: string,
  dir: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Child> {
  await mkdir(dir, { recursive: true })
  return startChild({
    command: process.execPath,
    args: (port) => [path.join(import.meta.dirname, 'references', `${name}.ts`), String(port), ...args],
    env: () => ({ NODE_ENV: 'production', ...env }),
    logPath: path.join(dir, `${name}.log`),
  })
}

/** Starts nginx for the files in `<dir>/files`. Adds `headers` to each response. */
export async function startNginx(dir: string, headers: [string, string][]): Promise<Child> {
  await mkdir(path.join(dir, 'files'), { recursive: true })
  const quoted = (value: string) => `"${value.replaceAll(/["\\$]/g, '\\$&')}"`
  // With the default of 1000 requests a connection, wrk would reconnect all the time.
  const site = (port: number) => `
access_log off;
sendfile on;
tcp_nopush on;
keepalive_requests 100000000;
server {
  listen 127.0.0.1:${port};
  location = /healthz { return 200; }
  location /raw/ {
    alias ${dir}/files/;
    default_type image/jpeg;
    etag off;
    ${headers.map(([name, value]) => `add_header ${name} ${quoted(value)};`).join('\n    ')}
  }
}`
  return startChild({
    command: 'nginx',
    args: (port) => configureNginx(dir, site(port)),
    logPath: path.join(dir, 'nginx.log'),
  })
}

/** Starts Caddy for the files in `<dir>/files`. */
export async function startCaddy(dir: string): Promise<Child> {
  const config = (port: number) => {
    const file = path.join(dir, 'Caddyfile')
    const site = `handle_path /raw/* {\nroot * ${dir}/files\nfile_server\n}\nrespond /healthz 200`
    writeFileSync(file, `{\nadmin off\nauto_https off\n}\nhttp://127.0.0.1:${port} {\n${site}\n}\n`)
    return file
  }
  return startChild({
    command: 'caddy',
    args: (port) => ['run', '--adapter', 'caddyfile', '--config', config(port)],
    env: () => ({ XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }),
    logPath: path.join(dir, 'caddy.log'),
  })
}

/** Headers that each server sets itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive'])

/** The headers of our response that every contestant sends too. */
export function sharedHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !OWN_HEADERS.has(name))
}
