/**
 * What all servers and commands on one ledger must agree on. A server with another `CDN_URL` would leave purges to a
 * cache that nobody asks; one with another store would not find the others' images; one with other limits would take
 * what the others refuse.
 */
import type { Config } from '../../config.ts'
import { renewIdentities } from '../../service/images/identities.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { OPERATOR } from '../manifest.ts'

const PREFIX = 'agreed.'

/** They name no place, and are not kept in the ledger. */
const SECRET = ['token', 'api', 'fill']

type Settings = Record<string, string>

/** `folder`: which one it is, if images are in a folder. */
export function settingsOf(config: Config, folder: string | null): Settings {
  return {
    OBJECTS_URL: folder === null ? withoutSecrets(config.objectsUrl) : `file:${folder}`,
    CDN_URL: withoutSecrets(config.cdnUrl),
    TOMBSTONES_URL: withoutSecrets(config.tombstonesUrl),
    UPLOADS_PER_DAY: `${config.uploadsPerDay}`,
    REFUSALS_PER_DAY: `${config.refusalsPerDay}`,
    REFUSED_BYTES_PER_DAY: `${config.refusedBytesPerDay}`,
    NETWORK_UPLOADS: `${config.networkUploads}`,
    DAILY_UPLOADS: `${config.dailyUploads}`,
    DAILY_BYTES: `${config.dailyBytes}`,
    MAX_UPLOAD_BYTES: `${config.maxUploadBytes}`,
    STRIP_METADATA: config.stripMetadata ? 'on' : 'off',
  }
}

/** Whether images are to be in another store than so far. */
export async function isOtherStore(ledger: Pick<Ledger, 'facts'>, settings: Settings): Promise<boolean> {
  const { [`${PREFIX}OBJECTS_URL`]: before } = await ledger.facts()
  const after = settings.OBJECTS_URL
  return before !== undefined && after !== undefined && before !== after
}

/** Says that these hold from now on. */
export async function agree(ledger: Ledger, settings: Settings): Promise<void> {
  // Another store does not know the retired ids of this one.
  if (await isOtherStore(ledger, settings)) await renewIdentities(ledger)
  await ledger.writeFacts(prefixed(settings), { replace: true })
}

/** A server that starts: the first one says what holds. Throws an `Error` with the difference. */
export async function joinServers(ledger: Ledger, settings: Settings): Promise<void> {
  // The only one on this machine's ledger may come with new settings. Images stay where they are all the same.
  const { OBJECTS_URL: _, ...changeable } = settings
  await ledger.join(() => agree(ledger, changeable))
  assertEqual(await ledger.writeFacts(prefixed(settings), { replace: false }), settings)
}

/**
 * A command beside servers. It says nothing itself, and accepts no uploads: limits are none of its business, so a backup
 * from cron goes on when a limit was changed. Throws an `Error` with the difference.
 */
export async function assertAgreed(
  ledger: Ledger,
  { OBJECTS_URL = '', CDN_URL = '' }: Settings,
): Promise<void> {
  const places = { OBJECTS_URL, CDN_URL }
  assertEqual({ ...prefixed(places), ...(await ledger.facts()) }, places)
}

function assertEqual(facts: Settings, settings: Settings): void {
  const differences = Object.entries(settings).filter(([name, here]) => facts[PREFIX + name] !== here)
  if (differences.length === 0) return
  const lines = differences.map(
    ([name, here]) => `${name}: ${here || 'none'} here, ${facts[PREFIX + name] || 'none'} by the ledger`,
  )
  throw new Error(
    [
      'these settings are not those of the servers on this ledger:',
      ...lines,
      `If they are to hold from now on: ${OPERATOR} agree`,
    ].join('\n'),
  )
}

function prefixed(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [PREFIX + name, value]))
}

/** In one spelling. Empty for none. */
function withoutSecrets(given: string | null): string {
  if (given === null) return ''
  const { protocol, host, pathname, searchParams } = new URL(given)
  for (const name of SECRET) searchParams.delete(name)
  searchParams.sort()
  const query = searchParams.size > 0 ? `?${searchParams}` : ''
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}${query}`
}
