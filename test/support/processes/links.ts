/** Network links to a server's ledger and store that can be cut. */
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import type { Env } from './process.ts'

export interface Links {
  /** Settings that use the links, including `NODE_OPTIONS`. Must be applied after `env`. */
  place: Env
  /** Makes ledger and store unreachable. */
  cut(): Promise<void>
}

/** Keeps views from timing out on a busy machine. */
const PATIENT = `--import ${new URL('patient-store.ts', import.meta.url).href}`

/** Creates links if `env` asks for a failing host. All others connect directly, with `PATIENT`. */
export async function linksTo(elsewhere: Env, env: Env): Promise<Links> {
  if (env.FAILING_DISK === undefined) {
    const place = { ...elsewhere, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} ${PATIENT}`.trim() }
    return { place, cut: async () => {} }
  }
  const { LEDGER_URL, OBJECTS_URL, ...others } = elsewhere
  const links: TcpProxy[] = []
  const linkTo = async (url: URL): Promise<URL> => {
    const link = await startTcpProxy(Number(url.port))
    links.push(link)
    url.port = `${link.port}`
    return url
  }
  const place: Env = { ...others }
  if (LEDGER_URL !== undefined) place.LEDGER_URL = (await linkTo(new URL(LEDGER_URL))).href
  if (OBJECTS_URL !== undefined) {
    const objects = new URL(OBJECTS_URL)
    const endpoint = await linkTo(new URL(objects.searchParams.get('endpoint')!))
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
