/** Every server that is measured: ours, and the references. */
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type Child, startChild } from './child.ts'
import { nginxConfig } from './nginx.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The words after `node` of the package's own start command. */
const START: string[] = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .slice(1)

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
