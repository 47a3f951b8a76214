/** A few small files below a prefix of a bucket. */
import type { Files } from '../files.ts'
import type { R2Bucket } from './binding.ts'
import { openBucket } from './bucket.ts'

export function openR2Files(binding: R2Bucket, folder: string): Files {
  const bucket = openBucket(binding)
  return {
    // A bucket has no folders.
    make: async () => {},
    async names() {
      const names: string[] = []
      for await (const { key } of bucket.list(folder)) names.push(key.slice(folder.length))
      return names
    },
    async read(name) {
      const object = await bucket.get(folder + name)
      return object === null ? null : new Uint8Array(await object.arrayBuffer())
    },
    async write(name, bytes) {
      await bucket.put({ key: folder + name, send: (put) => put(bytes as Uint8Array<ArrayBuffer>) })
    },
    remove: (name) => bucket.delete(folder + name),
    close: async () => {},
  }
}
