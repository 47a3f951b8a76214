/** Export and import of the history as a JSON file. */
import { ID_PATTERN, IMAGE_TYPES, type ImageType, KEY_PATTERN } from '../../../protocol.ts'
import { MAX_DESCRIPTION } from '../gallery/link.ts'
import type { HistoryEntry } from './history.ts'

interface HistoryFile {
  /** Format version. */
  pinhole: 1
  pictures: (Omit<HistoryEntry, 'thumbnail'> & { thumbnail?: string | undefined })[]
}

export async function writeHistory(pictures: HistoryEntry[]): Promise<Blob> {
  const file: HistoryFile = {
    pinhole: 1,
    pictures: await Promise.all(
      pictures.map(async ({ thumbnail, ...rest }) =>
        // A thumbnail may be unreadable. The key matters more.
        thumbnail ? { ...rest, thumbnail: await dataUrlOf(thumbnail).catch(() => undefined) } : rest,
      ),
    ),
  }
  return new Blob([JSON.stringify(file, null, 1)], { type: 'application/json' })
}

/** Reads all valid entries. The file is untrusted, so everything is validated. Throws if it isn't a history file. */
export async function readHistory(file: Blob): Promise<HistoryEntry[]> {
  const { pinhole, pictures } = JSON.parse(await file.text()) as Partial<HistoryFile>
  if (pinhole !== 1 || !Array.isArray(pictures)) throw new TypeError('not a history file')
  return pictures.flatMap((entry) => parseEntry(entry) ?? [])
}

function parseEntry(entry: Partial<Record<keyof HistoryEntry, unknown>> | null): HistoryEntry | null {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const number = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
  const id = text(entry?.id)
  const key = text(entry?.key)
  const link = URL.parse(text(entry?.link))
  const at = new Date(text(entry?.at))
  const expires = text(entry?.expires)
  const isValid =
    ID_PATTERN.test(id) &&
    KEY_PATTERN.test(key) &&
    // With another picture's key, deleting this one would delete that one.
    key.startsWith(id) &&
    IMAGE_TYPES.includes(entry?.type as ImageType) &&
    link?.origin === location.origin &&
    link.pathname === `/${id}` &&
    !Number.isNaN(at.getTime())
  if (!isValid) return null
  return {
    id,
    key,
    link: link.href,
    name: text(entry?.name).slice(0, 255),
    type: entry?.type as ImageType,
    bytesIn: number(entry?.bytesIn),
    bytesOut: number(entry?.bytesOut),
    width: number(entry?.width),
    height: number(entry?.height),
    at: at.toISOString(),
    expires: Number.isNaN(Date.parse(expires)) ? undefined : expires,
    alt: text(entry?.alt).slice(0, MAX_DESCRIPTION) || undefined,
    thumbnail: blobOf(text(entry?.thumbnail)),
  }
}

const DATA_URL = /^data:(image\/(?:webp|png|jpeg));base64,([A-Za-z0-9+/=]{1,200000})$/

function blobOf(dataUrl: string): Blob | undefined {
  const [, type, base64] = DATA_URL.exec(dataUrl) ?? []
  if (!base64) return undefined
  try {
    return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type })
  } catch {
    return undefined
  }
}

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}
