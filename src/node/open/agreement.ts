/**
 * Settings that all servers and commands on one ledger must agree on. A server with another `CDN_URL` would leave its purges
 * to a cache that nobody purges; one with another store would not find the others' images; one with other limits would
 * accept uploads that the others refuse; one without `EVIDENCE_KEY` would seal nothing.
 */
import type { Config } from '../../config.ts'
import { renewIdentities } from '../../service/images/identities.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { OPERATOR } from '../manifest.ts'

const PREFIX = 'agreed.'

/** URL parameters that don't identify a location and must not be stored in the ledger. */
const SECRET_PARAMETERS = ['token', 'api', 'fill']

/** Values by variable. */
export type Agreement = Record<string, string>

/** `folder`: the image folder's identity, if images are in a folder. */
export function agreementOf(config: Config, folder: string | null): Agreement {
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
    EVIDENCE_KEY: config.evidenceKey ?? '',
  }
}

/** Whether images are configured to be in another store than before. */
export async function isOtherStore(ledger: Pick<Ledger, 'facts'>, agreement: Agreement): Promise<boolean> {
  const { [`${PREFIX}OBJECTS_URL`]: before } = await ledger.facts()
  const after = agreement.OBJECTS_URL
  return before !== undefined && after !== undefined && before !== after
}

/** Whether no server has used the ledger yet. */
export async function isUnused(ledger: Pick<Ledger, 'facts'>): Promise<boolean> {
  return (await ledger.facts())[`${PREFIX}OBJECTS_URL`] === undefined
}

/** The servers' public key for evidence. `undefined` or empty if they seal none. */
export async function agreedEvidenceKey(ledger: Pick<Ledger, 'facts'>): Promise<string | undefined> {
  return (await ledger.facts())[`${PREFIX}EVIDENCE_KEY`]
}

/** Makes these settings the agreed ones from now on. */
export async function agree(ledger: Ledger, agreement: Agreement): Promise<void> {
  // The new store does not know the retired IDs of the old one.
  if (await isOtherStore(ledger, agreement)) await renewIdentities(ledger)
  await ledger.writeFacts(prefixed(agreement), { replace: true })
}

/** For a starting server: the first one sets the agreement. Throws an `Error` that lists the differences. */
export async function joinServers(ledger: Ledger, agreement: Agreement): Promise<void> {
  // The only server on this machine's ledger may bring new settings, except for the image store.
  const { OBJECTS_URL: _, ...changeable } = agreement
  await ledger.join(() => agree(ledger, changeable))
  assertEqual(await ledger.writeFacts(prefixed(agreement), { replace: false }), agreement)
}

/** For a command that needs a SQLite ledger to itself: Postgres does not know which servers are running. */
export async function assertNoServer(ledger: Ledger): Promise<void> {
  let isAlone = false
  await ledger.join(async () => {
    isAlone = true
  })
  if (!isAlone) throw new Error('a server is running: stop it first')
}

/**
 * For a command next to servers. It changes nothing, and only checks locations: commands accept no uploads, so a backup from
 * cron keeps working after a limit was changed. Throws an `Error` that lists the differences.
 */
export async function assertAgreed(
  ledger: Ledger,
  { OBJECTS_URL = '', CDN_URL = '' }: Agreement,
): Promise<void> {
  const locations = { OBJECTS_URL, CDN_URL }
  assertEqual({ ...prefixed(locations), ...(await ledger.facts()) }, locations)
}

function assertEqual(facts: Record<string, string>, agreement: Agreement): void {
  const differences = Object.entries(agreement).filter(([name, value]) => facts[PREFIX + name] !== value)
  if (differences.length === 0) return
  const lines = differences.map(
    ([name, value]) => `${name}: ${value || 'none'} here, ${facts[PREFIX + name] || 'none'} in the ledger`,
  )
  const stores = [agreement.OBJECTS_URL, facts[`${PREFIX}OBJECTS_URL`]]
  // Folders have an ID.
  const isOtherFolder = stores[0] !== stores[1] && stores.every((url) => url?.startsWith('file:'))
  throw new Error(
    [
      'these settings differ from those of the servers on this ledger:',
      ...lines,
      ...(isOtherFolder ? ['The images are in another folder: is its disk mounted?'] : []),
      `To make them the settings of all servers: ${OPERATOR} agree`,
    ].join('\n'),
  )
}

function prefixed(agreement: Agreement): Agreement {
  return Object.fromEntries(Object.entries(agreement).map(([name, value]) => [PREFIX + name, value]))
}

/** In canonical form. Empty for `null`. */
function withoutSecrets(value: string | null): string {
  if (value === null) return ''
  const { protocol, host, pathname, searchParams } = new URL(value)
  for (const name of SECRET_PARAMETERS) searchParams.delete(name)
  searchParams.sort()
  const query = searchParams.size > 0 ? `?${searchParams}` : ''
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}${query}`
}
