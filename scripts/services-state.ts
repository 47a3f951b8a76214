/** Where a started service is. Tests read it. */
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
  /** Keys of a user whose buckets are full with two objects. */
  fullAccessKeyId: string
  fullSecretAccessKey: string
}

/** One set of services a user and machine. Tests have a folder for temporary files of their own. */
export const SERVICES_FOLDER =
  process.env.PINHOLE_SERVICES ?? join(tmpdir(), `pinhole-services-${userInfo().uid}`)
export const STATE_FILE = join(SERVICES_FOLDER, 'services.json')

/** `null` unless a service was started and answers. */
export async function readServices(): Promise<Services | null> {
  const text = await readFile(STATE_FILE, 'utf8').catch(() => null)
  if (text === null) return null
  const services = JSON.parse(text) as Services
  return (await answers(services.endpoint)) ? services : null
}

export async function answers(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(2000) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
