/** A single server as a host for the HTTP contract, with nothing in front of it. */
import type { Host } from '../../contracts/http/host.ts'
import type { RunningServer } from './server.ts'

export function ownHost(server: RunningServer): Omit<Host, 'breakDown' | 'stop'> {
  return {
    url: server.url,
    baseUrl: server.baseUrl,
    clientHeader: 'X-Forwarded-For',
    direct: true,
    dataDir: server.dataDir,
    isDiskSound: process.env.PINHOLE_RUNTIME !== undefined,
    logs: () => server.stdout() + server.stderr(),
    operator: (argv) => server.operator(argv),
  }
}
