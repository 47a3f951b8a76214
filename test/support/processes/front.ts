/** What stands before several servers: nginx with the site that `deploy/` ships, without its cache. */
import { mkdtemp, readFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cache, isInstalled, replaced, runNginx } from './caches.ts'
import { ROOT } from './process.ts'

export interface Front extends Cache {
  /** Where it keeps its logs, if it has any. */
  folder: string | null
}

/** In CI it is there, or its absence fails the tests. */
export const hasNginx = (await isInstalled('nginx')) || process.env.PINHOLE_CI !== undefined

/** `trusted`: networks that are other proxies before this one, as CIDRs. */
export async function startNginxFront(
  port: number,
  originPorts: number[],
  trusted: string[],
): Promise<Front> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-front-'))
  const shipped = await readFile(join(ROOT, 'deploy/nginx/pinhole.conf'), 'utf8')
  const site = replaced(withoutCache(shipped), [
    [/listen 80;/, `listen 127.0.0.1:${port} backlog=1024;`],
    [
      /server 127\.0\.0\.1:3000( [^;]*);/,
      originPorts.map((origin) => `server 127.0.0.1:${origin}$1;`).join(' '),
    ],
    [
      /# set_real_ip_from 10\.0\.0\.0\/8;/,
      trusted.map((network) => `set_real_ip_from ${network};`).join(' '),
    ],
    [/# real_ip_header/, 'real_ip_header'],
    [/# real_ip_recursive/, 'real_ip_recursive'],
    [/\/var\/log\/nginx\/pinhole\.log/, `${folder}/access.log`],
    [/\/var\/log\/nginx\/pinhole-error\.log/, `${folder}/error.log`],
  ])
  const nginx = await runNginx({ port, folder, site })
  return { ...nginx, folder }
}

/** As its first lines say: "Without the module, leave out the lines marked CACHE." */
function withoutCache(site: string): string {
  const lines = site.split('\n')
  const kept = lines.filter((line) => !/ # CACHE\b/.test(line))
  if (kept.length === lines.length) throw new Error('no line is marked CACHE')
  return kept.join('\n')
}

/** For a machine without nginx: connections in turn, as bytes. It reads and changes nothing. */
export async function startPlainFront(port: number, originPorts: number[]): Promise<Front> {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const origin = connect({
      host: '127.0.0.1',
      port: originPorts[turn++ % originPorts.length]!,
      allowHalfOpen: true,
    })
    for (const [from, to] of [
      [client, origin],
      [origin, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroySoon()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', 1024, resolve))
  return {
    url: `http://127.0.0.1:${port}`,
    folder: null,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
