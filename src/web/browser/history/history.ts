/** What was uploaded from here, with its deletion keys. It stays in this browser. */
import type { ImageType } from '../../../protocol.ts'

export interface Remembered {
  id: string
  /** The deletion key. */
  key: string
  link: string
  /** As the file was called on this device. */
  name: string
  type: ImageType
  /** As it came from the device. Unit: bytes. */
  bytesIn: number
  /** As it was uploaded. Unit: bytes. */
  bytesOut: number
  /** Unit: pixels. */
  width: number
  /** Unit: pixels. */
  height: number
  /** ISO 8601. */
  at: string
  /** From then on it is gone (ISO 8601). */
  expires?: string | undefined
  thumbnail?: Blob | undefined
  /** What it shows, in the person's words. It never leaves this device but in what they copy. */
  alt?: string | undefined
}

export interface History {
  /** False where the browser denies storage: it lasts as long as the page. */
  readonly lasts: boolean
  /** The newest first. */
  all(): Promise<Remembered[]>
  get(id: string): Promise<Remembered | undefined>
  put(pictures: Remembered[]): Promise<void>
  remove(id: string): Promise<void>
  clear(): Promise<void>
  /** Called when another page changed it. */
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
    request.onblocked = () => reject(new Error('another page holds an older version'))
  })
}

function overDatabase(database: IDBDatabase): History {
  function run<T>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => IDBRequest<T> | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const transaction = database.transaction('pictures', mode)
      const request = work(transaction.objectStore('pictures'))
      transaction.oncomplete = () => resolve(request?.result as T)
      transaction.onabort = () => reject(transaction.error)
    })
  }
  const channel = new BroadcastChannel('pinhole-history')
  const changed = <T>(done: T): T => {
    channel.postMessage(null)
    return done
  }
  return {
    lasts: true,
    all: async () => newestFirst(await run('readonly', (store) => store.getAll())),
    get: (id) => run('readonly', (store) => store.get(id)),
    put: (pictures) =>
      run('readwrite', (store) => {
        for (const picture of pictures) store.put(picture)
        return undefined
      }).then(() => changed(undefined)),
    remove: (id) => run('readwrite', (store) => store.delete(id)).then(changed),
    clear: () => run('readwrite', (store) => store.clear()).then(changed),
    onForeignChange: (listener) => channel.addEventListener('message', listener),
  }
}

function inMemory(): History {
  const pictures = new Map<string, Remembered>()
  return {
    lasts: false,
    all: async () => newestFirst([...pictures.values()]),
    get: async (id) => pictures.get(id),
    put: async (added) => {
      for (const picture of added) pictures.set(picture.id, picture)
    },
    remove: async (id) => void pictures.delete(id),
    clear: async () => pictures.clear(),
    onForeignChange() {},
  }
}

function newestFirst(pictures: Remembered[]): Remembered[] {
  return pictures.sort((a, b) => (a.at < b.at ? 1 : -1))
}
