/** Selects the service: from the command line, the environment, this machine's settings, or the local default. */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Option } from 'commander'
import envPaths from 'env-paths'
import { refusalOf } from '../client/api/answers.ts'
import { endpointOf } from '../client/api/endpoint.ts'
import { isGone } from '../client/api/gone.ts'
import { type RetryPolicy, withRetries } from '../client/api/retry.ts'
import { parseJsonObject } from '../json.ts'
import { rawPath, UPLOAD_PATH, viewPath } from '../protocol.ts'
import { CommandError } from './exit.ts'
import { replaceFile } from './files/output-file.ts'
import type { Entry } from './history.ts'

/** Default address of `pinhole serve`. */
const DEFAULT_SERVER = 'http://localhost:3000'

export function serverOption(): Option {
  return new Option(
    '-s, --server <url>',
    'address of the service (default: the one set by `pinhole use`)',
  ).env('PINHOLE_SERVER')
}

/** `isChosen`: false if the address is only the local default. */
export function serverOf({ server }: { server?: string }): { server: string; isChosen: boolean } {
  const chosen = server || rememberedServer()
  return { server: readServerAddress(chosen || DEFAULT_SERVER), isChosen: Boolean(chosen) }
}

/** Shown if no service is set and none is running locally. */
export const NO_SERVICE_MESSAGE =
  `No service is set, and none is running at ${DEFAULT_SERVER}. ` +
  'Set yours with `pinhole use https://pics.example`, or start one with `pinhole serve`.'

/** A host with a dot or a port, or `localhost`. Any other single word is more likely a mistake. */
const BARE_HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w.-]+(?=:\d)|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/\S*)?$/i

/** Addresses without TLS: this machine (RFC 6761, section 6.3) and private networks (RFC 1918). */
const LOCAL =
  /^(?:(?:[\w-]+\.)*localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|\[::1\])(?=[:/]|$)/i

/** A typed address with its scheme, which it may lack: `localhost:3000`, `pics.example`. Other text is returned as it is. */
export function withScheme(text: string): string {
  const word = text.trim()
  return BARE_HOST.test(word) ? `${LOCAL.test(word) ? 'http' : 'https'}://${word}` : word
}

/** Normalizes a typed address: see `withScheme`. No trailing slash. */
export function readServerAddress(text: string): string {
  const url = withScheme(text)
  if (!/^https?:\/\/[^\s/]/i.test(url) || !URL.canParse(url))
    throw new CommandError(
      'usage',
      `${text} is not a valid service address. Use one like https://pics.example`,
    )
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/$/, '')
}

/**
 * Checks that a service may be at this address. Rejects with `Unreachable`, with the signal's reason, or with a `ServerRefusal`
 * for a redirect, a 404 or a success, which no service sends. Any other response is left for the upload to handle.
 */
export async function checkReachable(server: string, policy: RetryPolicy): Promise<void> {
  const { address, transport, clock } = endpointOf(server)
  const attempt = async () => {
    const answer = await transport({ method: 'HEAD', url: address(UPLOAD_PATH), signal: policy.signal })
    if (answer.status < 400 || answer.status === 404) throw refusalOf(answer)
  }
  await withRetries(attempt, policy, clock)
}

/** Whether the service of an upload reports it as gone. Rejects if the service does not answer within 30 seconds. */
export function isUploadGone(entry: Entry, signal: AbortSignal): Promise<boolean> {
  return isGone(rawOf(entry), AbortSignal.any([signal, AbortSignal.timeout(30_000)]))
}

/** Address of an upload's image file. */
export function rawOf({ id, link }: Entry): string {
  return link.slice(0, -viewPath(id).length) + rawPath(id)
}

export function settingsPath(): string {
  return join(envPaths('pinhole', { suffix: '' }).config, 'settings.json')
}

function rememberedServer(): string | undefined {
  const path = settingsPath()
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new CommandError('usage', `${path} can't be read (${code}).`)
  }
  const settings = parseJsonObject(text)
  const server = settings?.server
  if (settings === null || !(server === undefined || typeof server === 'string')) {
    const example = 'Expected {"server": "https://pics.example"}.'
    throw new CommandError('usage', `${path} is not valid. ${example}`)
  }
  return server
}

export async function rememberServer(server: string): Promise<void> {
  await mkdir(dirname(settingsPath()), { recursive: true, mode: 0o700 })
  await replaceFile(settingsPath(), `${JSON.stringify({ server }, null, 2)}\n`)
}
