/** Where the started services are. Read by tests. */
import { readFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

export interface Services {
  /** All data, logs and pid files. */
  folder: string
  /** Endpoint of the S3 server. */
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  /** Keys of a user whose buckets are full at two objects. */
  fullAccessKeyId: string
  fullSecretAccessKey: string
}

/** One set of services per user and machine. Not in the TMPDIR of tests, which is their own. */
export const SERVICES_FOLDER =
  process.env.PINHOLE_SERVICES ?? join(tmpdir(), `pinhole-services-${userInfo().uid}`)
export const STATE_FILE = join(SERVICES_FOLDER, 'services.json')

/** `null` unless services were started and respond. */
export async function readServices(): Promise<Services | null> {
  const text = await readFile(STATE_FILE, 'utf8').catch(() => null)
  if (text === null) return null
  const services = JSON.parse(text) as Services
  return (await isResponding(services.endpoint)) ? services : null
}

export async function isResponding(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(2000) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
