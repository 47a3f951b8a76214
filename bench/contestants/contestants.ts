/** Every server that is measured: ours, and the references. */
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type Child, startChild } from './child.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The words after `node` of the package's own start command. */
const START: string[] = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .slice(1)

/** Clients have an address each, or no quota. */
export const UNLIMITED = { TRUSTED_PROXIES: '127.0.0.1/32', UPLOADS_PER_DAY: '1000000000' }

/** Ours, as `npm start` runs it in `dir`, with `env` beside the defaults: its data are in `<dir>/data`. */
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
    readyPath: '/healthz',
    logPath: path.join(dir, 'pinhole.log'),
  })
}

/** One of `references/`, called with its port and `args`. */
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
    readyPath: '/healthz',
    logPath: path.join(dir, `${name}.log`),
  })
}

/** nginx over the files in `<dir>/files`; each answer carries `headers`. */
export async function startNginx(dir: string, headers: [string, string][]): Promise<Child> {
  await mkdir(path.join(dir, 'files'), { recursive: true })
  return startChild({
    command: 'nginx',
    args: (port) => ['-p', dir, '-e', path.join(dir, 'error.log'), '-c', nginxConfig(dir, port, headers)],
    readyPath: '/healthz',
    logPath: path.join(dir, 'nginx.log'),
  })
}

/** Caddy over the files in `<dir>/files`. */
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
    readyPath: '/healthz',
    logPath: path.join(dir, 'caddy.log'),
  })
}

/** Writes nginx's configuration and gives its path. */
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
  # The default of 1000 would make wrk connect anew all the time.
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

/** What each server says of itself on its own. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive'])

/** Headers of our answer that every contestant is to send too. */
export function sharedHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !OWN_HEADERS.has(name))
}
