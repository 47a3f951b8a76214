/** What a server keeps elsewhere, reached over links that can be cut. */
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import type { Env } from './process.ts'

export interface Links {
  /** The settings that lead over the links, and `NODE_OPTIONS`: to be given after `env`. */
  place: Env
  /** Ledger and store can be reached no more. */
  cut(): Promise<void>
}

/** With it a view does not time out on a loaded machine. */
const PATIENT = `--import ${new URL('patient-store.ts', import.meta.url).href}`

/** Links for the host that fails. All others connect directly, with `PATIENT`. */
export async function linksTo(elsewhere: Env, env: Env): Promise<Links> {
  if (env.FAILING_DISK === undefined) {
    const place = { ...elsewhere, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} ${PATIENT}`.trim() }
    return { place, cut: async () => {} }
  }
  const { LEDGER_URL, OBJECTS_URL, ...others } = elsewhere
  const links: TcpProxy[] = []
  const over = async (url: URL): Promise<URL> => {
    const link = await startTcpProxy(Number(url.port))
    links.push(link)
    url.port = `${link.port}`
    return url
  }
  const place: Env = { ...others }
  if (LEDGER_URL !== undefined) place.LEDGER_URL = (await over(new URL(LEDGER_URL))).href
  if (OBJECTS_URL !== undefined) {
    const objects = new URL(OBJECTS_URL)
    const endpoint = await over(new URL(objects.searchParams.get('endpoint')!))
    objects.searchParams.set('endpoint', endpoint.origin)
    place.OBJECTS_URL = objects.href
  }
  return {
    place,
    async cut() {
      await Promise.all(links.map((link) => link.close()))
    },
  }
}
