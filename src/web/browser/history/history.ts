/** Upload history with deletion keys. Stored in this browser only. */
import type { ImageType } from '../../../protocol.ts'

export interface HistoryEntry {
  id: string
  /** The deletion key. */
  key: string
  link: string
  /** Name of the file on this device. */
  name: string
  type: ImageType
  /** Size before compression. Unit: bytes. */
  bytesIn: number
  /** Size as uploaded. Unit: bytes. */
  bytesOut: number
  /** Unit: pixels. */
  width: number
  /** Unit: pixels. */
  height: number
  /** Time of the upload (ISO 8601). */
  at: string
  /** When the picture expires (ISO 8601). */
  expires?: string | undefined
  thumbnail?: Blob | undefined
  /** Alt text. Leaves this device only in copied links and codes. */
  alt?: string | undefined
}

export interface History {
  /** False if the browser denies storage, so that the history lasts only as long as the page. */
  readonly lasts: boolean
  /** Newest first. */
  all(): Promise<HistoryEntry[]>
  get(id: string): Promise<HistoryEntry | undefined>
  /** False if saving failed, most likely because storage is full. */
  put(pictures: HistoryEntry[]): Promise<boolean>
  /** Saves changes of a picture, but never brings back one that another tab deleted. False if saving failed. */
  update(picture: HistoryEntry): Promise<boolean>
  remove(id: string): Promise<void>
  clear(): Promise<void>
  /** Registers a listener for changes made by other tabs. */
  onForeignChange(listener: () => void): void
}

export async function openHistory(): Promise<History> {
  try {
    return overDatabase(await openDatabase())
  } catch {
    return inMemory()
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('pinhole', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('pictures', { keyPath: 'id' })
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

type Work<T> = (store: IDBObjectStore) => IDBRequest<T> | undefined

function overDatabase(database: IDBDatabase): History {
  const attempt = <T>(mode: IDBTransactionMode, work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      // Keys must survive a power cut. By default, browsers don't wait for the disk.
      const transaction = database.transaction('pictures', mode, { durability: 'strict' })
      const request = work(transaction.objectStore('pictures'))
      transaction.oncomplete = () => resolve(request?.result as T)
      transaction.onabort = () => reject(transaction.error)
    })
  const run = <T>(mode: IDBTransactionMode, work: Work<T>) =>
    attempt(mode, work).catch(async () => {
      // Safari loses the connections of background tabs.
      database.close()
      database = await openDatabase()
      return attempt(mode, work)
    })
  const channel = new BroadcastChannel('pinhole-history')
  const changed = <T>(done: T): T => {
    channel.postMessage(null)
    return done
  }
  const save = (work: Work<unknown>) =>
    run('readwrite', work).then(
      () => changed(true),
      () => false,
    )
  return {
    lasts: true,
    all: async () => newestFirst(await run('readonly', (store) => store.getAll())),
    get: (id) => run('readonly', (store) => store.get(id)),
    put: (pictures) =>
      save((store) => {
        for (const picture of pictures) store.put(picture)
      }),
    update: (picture) =>
      save((store) => {
        const known = store.get(picture.id)
        known.onsuccess = () => known.result && store.put(picture)
      }),
    remove: (id) => run('readwrite', (store) => store.delete(id)).then(changed),
    clear: () => run('readwrite', (store) => store.clear()).then(changed),
    onForeignChange: (listener) => channel.addEventListener('message', listener),
  }
}

function inMemory(): History {
  const pictures = new Map<string, HistoryEntry>()
  return {
    lasts: false,
    all: async () => newestFirst([...pictures.values()]),
    get: async (id) => pictures.get(id),
    put: async (added) => {
      for (const picture of added) pictures.set(picture.id, picture)
      return true
    },
    // Callers change the entries in place.
    update: async () => true,
    remove: async (id) => void pictures.delete(id),
    clear: async () => pictures.clear(),
    onForeignChange() {},
  }
}

function newestFirst(pictures: HistoryEntry[]): HistoryEntry[] {
  return pictures.sort((a, b) => (a.at < b.at ? 1 : -1))
}
