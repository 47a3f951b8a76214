/** Selects images by their records. There is no index: every record is read. */
import { InvalidArgumentError, Option } from 'commander'
import { EXTENSIONS, type ImageType } from '../../../protocol.ts'
import { DamagedObject, digestsOf, type ImageRecord, type ObjectStore } from '../../../stores/object-store.ts'
import { readDigest } from '../arguments.ts'

export interface Selection {
  since?: Date
  until?: Date
  type?: ImageType
  minSize?: number
  maxSize?: number
  sha256?: string
}

export interface Found {
  record: ImageRecord
  isHeld: boolean
}

/** Concurrent reads of records. */
const CONCURRENCY = 16

export function selectionOptions(): Option[] {
  return [
    new Option(
      '--since <time>',
      'stored at or after this time, e.g. 2026-07-31 or 2026-07-31T12:00:00Z',
    ).argParser(readTime),
    new Option('--until <time>', 'stored before this time').argParser(readTime),
    new Option('--type <type>', 'jpg, png, gif, webp, avif').argParser(readType),
    new Option('--min-size <bytes>', 'of at least this size').argParser(readSize),
    new Option('--max-size <bytes>', 'of at most this size').argParser(readSize),
    new Option('--sha256 <digest>', 'digest of the stored image, the uploaded file or the preview').argParser(
      readDigest,
    ),
  ]
}

export function isSelective(selection: Selection): boolean {
  const { since, until, type, minSize, maxSize, sha256 } = selection
  return [since, until, type, minSize, maxSize, sha256].some((each) => each !== undefined)
}

/**
 * Visible images, then held ones, each ordered by ID. `onRead` gets the number of records read so far. Damaged images never
 * match.
 */
export async function* select(
  objects: ObjectStore,
  selection: Selection,
  onRead: (count: number) => void,
  { heldOnly = false }: { heldOnly?: boolean } = {},
): AsyncGenerator<Found> {
  let count = 0
  for (const isHeld of heldOnly ? [true] : [false, true]) {
    let reading: Promise<ImageRecord | null>[] = []
    async function* flush(): AsyncGenerator<Found> {
      for (const record of await Promise.all(reading)) {
        onRead(++count)
        if (record !== null && matches(record, selection)) yield { record, isHeld }
      }
      reading = []
    }
    for await (const id of isHeld ? objects.listHeld() : objects.list()) {
      reading.push((isHeld ? objects.headHeld(id) : objects.head(id)).catch(nullIfDamaged))
      if (reading.length === CONCURRENCY) yield* flush()
    }
    yield* flush()
  }
}

function matches(record: ImageRecord, { since, until, type, minSize, maxSize, sha256 }: Selection): boolean {
  const at = Date.parse(record.createdAt)
  return (
    (since === undefined || at >= since.getTime()) &&
    (until === undefined || at < until.getTime()) &&
    (type === undefined || record.type === type) &&
    (minSize === undefined || record.size >= minSize) &&
    (maxSize === undefined || record.size <= maxSize) &&
    (sha256 === undefined || digestsOf(record).includes(sha256))
  )
}

function nullIfDamaged(error: unknown): null {
  if (error instanceof DamagedObject) return null
  throw error
}

/** `Date` reads "last 60" as 1960, and a time without a zone as local: `remove` could then delete the wrong images. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

function readTime(text: string): Date {
  const time = new Date(text)
  if (!TIME.test(text) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('A time has the form 2026-07-31 or 2026-07-31T12:00:00Z.')
  return time
}

function readType(text: string): ImageType {
  const found = Object.entries(EXTENSIONS).find(([type, extension]) => text === type || text === extension)
  if (found === undefined)
    throw new InvalidArgumentError(`The type must be one of ${Object.values(EXTENSIONS).join(', ')}.`)
  return found[0] as ImageType
}

function readSize(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('The size must be a number of bytes.')
  return Number(text)
}
