/** Real caches and proxies in front of servers, with the configurations shipped in `deploy/`. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from '../folder.ts'
import { until } from '../until.ts'
import { ROOT, succeeds } from './process.ts'

export interface Cache {
  url: string
  /** Folder of its files, including logs. */
  folder: string
  stop(): Promise<void>
}

/** Below the ports that systems choose (RFC 6335, 6: from 49,152; Linux: from 32,768), as another test's server could get it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    } catch {
      continue
    }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

const PURGE_MODULE = '/usr/lib/nginx/modules/ngx_http_cache_purge_module.so'

const LISTEN_80 = /listen 80;\s+listen \[::\]:80;/

/** Each cache with its shipped configuration in front of one server: required programs and files, and a start function. */
export const CACHES = {
  varnish: { needs: ['varnishd'], start: startVarnish },
  nginx: {
    needs: ['nginx', PURGE_MODULE],
    start: (port: number, originPort: number) => startNginx(port, [originPort]),
  },
}

/** Skip reason of a suite that needs these programs, or `false`. Always `false` in CI, where a missing program is a failure. */
export async function skipWithout(needed: string | string[], name = `${needed}`): Promise<string | false> {
  if (process.env.PINHOLE_CI || (await isInstalled(...[needed].flat()))) return false
  if (name !== `${needed}`) return `${name} is not on this machine`
  const missing: string[] = []
  for (const each of [needed].flat()) if (!(await isInstalled(each))) missing.push(each)
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not on this machine`
}

/** Whether all these programs or files exist. */
export function isInstalled(...needed: string[]): Promise<boolean> {
  const checks = needed.map((each) => `{ command -v ${each} || test -e ${each}; }`)
  return succeeds(promisify(execFile)('sh', ['-c', checks.join(' && ')]))
}

async function startVarnish(port: number, originPort: number): Promise<Cache> {
  const folder = await newFolder()
  const shipped = await readFile(join(ROOT, 'deploy/varnish/pinhole.vcl'), 'utf8')
  const vcl = join(folder, 'pinhole.vcl')
  await writeFile(
    vcl,
    replaced(
      shipped,
      [3000, 3001, 3002].map((port) => [new RegExp(`\\.port = "${port}"`), `.port = "${originPort}"`]),
    ),
  )
  const args = [
    '-F',
    '-n',
    join(folder, 'work'),
    '-a',
    `127.0.0.1:${port}`,
    '-f',
    vcl,
    '-s',
    'malloc,64m',
    '-j',
    'none',
  ]
  return running(spawn('varnishd', args, { stdio: ['ignore', 'pipe', 'pipe'] }), port, folder)
}

export function startNginx(port: number, originPorts: number[]): Promise<Cache> {
  return startCache(port, originPorts, (shipped) => replaced(shipped, [[LISTEN_80, '']]))
}

/** The cache beside another site, the default on `publicPort`, as on Debian. `port`: for purges. */
export function startNginxBeside(port: number, publicPort: number, originPort: number): Promise<Cache> {
  const beside = `server { listen 127.0.0.1:${publicPort} default_server; server_name _; return 404; }`
  return startCache(
    port,
    [originPort],
    (shipped) => replaced(shipped, [[LISTEN_80, `listen 127.0.0.1:${publicPort};`]]) + beside,
  )
}

/** The cache with TLS. `port`: for purges, without TLS. */
export function startNginxTls(port: number, tlsPort: number, originPort: number): Promise<Cache> {
  return startCache(port, [originPort], async (shipped, folder) =>
    replaced(await withTls(shipped, folder), [
      [/listen 443 ssl http2;\s+listen \[::\]:443/, `listen 127.0.0.1:${tlsPort}`],
    ]),
  )
}

function startCache(
  port: number,
  originPorts: number[],
  change: (shipped: string, folder: string) => string | Promise<string>,
): Promise<Cache> {
  return startShippedNginx(port, originPorts, async (shipped, folder) => ({
    site: replaced(await change(shipped, folder), [[/\/var\/cache\/pinhole-nginx/, `${folder}/cache`]]),
    modules: `load_module ${PURGE_MODULE};`,
  }))
}

/** The site with the lines of tls.conf, and a certificate in `folder`. */
export async function withTls(site: string, folder: string): Promise<string> {
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')]
  const subject = ['-subj', '/CN=pics.example', '-days', '1', '-nodes', '-newkey', 'rsa:2048']
  await promisify(execFile)('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', certificate])
  const tls = replaced(await readFile(join(ROOT, 'deploy/nginx/tls.conf'), 'utf8'), [
    [/\/etc\/letsencrypt\/live\/pics\.example\/fullchain\.pem/, certificate],
    [/\/etc\/letsencrypt\/live\/pics\.example\/privkey\.pem/, key],
  ])
  return replaced(site, [[LISTEN_80, tls]])
}

/** Always true in CI, so that a missing nginx fails the tests. */
export const hasNginx = (await isInstalled('nginx')) || process.env.PINHOLE_CI !== undefined

/** nginx as a load balancer without cache, in front of servers at local ports or other addresses. `trusted`: CIDRs of proxies in front of nginx. */
export function startNginxFront(
  port: number,
  origins: (number | string)[],
  trusted: string[],
): Promise<Cache> {
  const networks = trusted.map((network) => `set_real_ip_from ${network};`).join(' ')
  return startShippedNginx(port, origins, (shipped) => ({
    site: replaced(withoutCache(shipped), [
      [/# set_real_ip_from 10\.0\.0\.0\/8;/, networks],
      [/# real_ip_header/, 'real_ip_header'],
      [/# real_ip_recursive/, 'real_ip_recursive'],
    ]),
  }))
}

/** As the configuration's header says: "Without either, leave out the lines marked CACHE." */
export function withoutCache(site: string): string {
  const lines = site.split('\n')
  const kept = lines.filter((line) => !/ # CACHE\b/.test(line))
  if (kept.length === lines.length) throw new Error('no line is marked CACHE')
  return kept.join('\n')
}

interface Site {
  site: string
  modules?: string
}

async function startShippedNginx(
  port: number,
  origins: (number | string)[],
  change: (shipped: string, folder: string) => Site | Promise<Site>,
): Promise<Cache> {
  const folder = await newFolder()
  const shipped = await readFile(join(ROOT, 'deploy/nginx/pinhole.conf'), 'utf8')
  const addresses = origins.map((origin) => (typeof origin === 'number' ? `127.0.0.1:${origin}` : origin))
  const servers = addresses.map((address) => `server ${address}$1;`).join(' ')
  const { site, modules } = await change(shipped, folder)
  return runNginx({
    port,
    folder,
    site: replaced(site, [
      [/^ *listen (80;\s+listen \[::\]:80|127\.0\.0\.1:8082);/m, `listen 127.0.0.1:${port} backlog=1024;`],
      [/server 127\.0\.0\.1:3000( [^;]*);/, servers],
      [/\/var\/log\/nginx\/pinhole\.log/, `${folder}/access.log`],
      [/\/var\/log\/nginx\/pinhole-error\.log/, `${folder}/error.log`],
    ]),
    ...(modules !== undefined && { modules }),
  })
}

/** Runs nginx with `site` in its http block. Removes `folder` when it stops. */
export async function runNginx(options: {
  port: number
  folder: string
  site: string
  modules?: string
}): Promise<Cache> {
  const { port, folder, site, modules } = options
  const args = configureNginx(folder, site, modules)
  return running(spawn('nginx', args, { stdio: ['ignore', 'pipe', 'pipe'] }), port, folder)
}

/** Writes a configuration with `site` in its http block. Returns the arguments of nginx. */
export function configureNginx(folder: string, site: string, modules = ''): string[] {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const conf = `${modules}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 2;
pid ${folder}/pid;
error_log ${folder}/error.log;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
${site}
}
`
  writeFileSync(join(folder, 'nginx.conf'), conf)
  return ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')]
}

/** Caddy in front of one server, with health checks every 50 ms. `log`: called with its output. */
export async function startCaddy(originPort: number, log: (text: string) => void = () => {}): Promise<Cache> {
  const folder = await newFolder()
  const port = await freePort()
  const site = replaced(await readFile(join(ROOT, 'deploy/caddy/Caddyfile'), 'utf8'), [
    [/^\{$/m, '{\n\tadmin off'],
    [/^pics\.example \{$/m, `http://127.0.0.1:${port} {`],
    [/127\.0\.0\.1:3000/, `127.0.0.1:${originPort}`],
    [/lb_try_duration 5s/, 'lb_try_duration 50ms'],
    [/health_interval 1s/, 'health_interval 50ms'],
  ])
  await writeFile(join(folder, 'Caddyfile'), site)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
  const child = spawn('caddy', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => log(String(piece)))
  return running(child, port, folder)
}

/** Applies changes to a shipped configuration. Throws if a pattern does not match. */
export function replaced(text: string, changes: [RegExp, string][]): string {
  return changes.reduce((changed, [pattern, replacement]) => {
    if (!pattern.test(changed)) throw new Error(`the configuration has no ${pattern}`)
    return changed.replace(pattern, replacement)
  }, text)
}

async function running(child: ChildProcess, port: number, folder: string): Promise<Cache> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  // Also stopped when tests end early.
  const kill = () => void child.kill('SIGTERM')
  process.once('exit', kill)
  void ended.then(() => process.off('exit', kill))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  await until('the cache listens', () => {
    if (child.exitCode !== null) throw new Error(`the cache exited:\n${output}`)
    return listens(port)
  })
  return { url: `http://127.0.0.1:${port}`, folder, stop }
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return succeeds(once(socket, 'connect')).finally(() => socket.destroy())
}
