/** Starts the measured servers: Pinhole and the references. */
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
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
  return startChild({
    command: 'nginx',
    args: (port) => ['-p', dir, '-e', path.join(dir, 'error.log'), '-c', nginxConfig(dir, port, headers)],
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

/** Writes the nginx configuration. Returns its path. */
function nginxConfig(dir: string, port: number, headers: [string, string][]): string {
  const quoted = (value: string) => `"${value.replaceAll(/["\\$]/g, '\\$&')}"`
  const text = `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 2;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 75s;
  # With the default of 1000, wrk would reconnect all the time.
  keepalive_requests 100000000;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  server {
    listen 127.0.0.1:${port};
    location = /healthz { return 200; }
    location /raw/ {
      alias ${dir}/files/;
      default_type image/jpeg;
      etag off;
      ${headers.map(([name, value]) => `add_header ${name} ${quoted(value)};`).join('\n      ')}
    }
  }
}
`
  const file = path.join(dir, 'nginx.conf')
  writeFileSync(file, text)
  return file
}

/** Headers that each server sets itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive'])

/** The headers of our response that every contestant sends too. */
export function sharedHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !OWN_HEADERS.has(name))
}
