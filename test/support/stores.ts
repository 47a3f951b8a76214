/** A store, a ledger and the rules for images on both, in this process. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { nodeHashes } from '../../src/node/hashes.ts'
import { createImages, type Images } from '../../src/service/images/images.ts'
import { NO_PURGES } from '../../src/service/images/purges.ts'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { folderOf } from './folder.ts'
import { ledgerOf } from './ledger.ts'

type Parts = Parameters<typeof createImages>[0]

/** In `images` and `ledger.sqlite` of one folder. Closed when the test ends: see `ledgerOf`. */
export async function storesOf(t: Pick<TestContext, 'after'>) {
  const folder = await folderOf(t)
  const ledger = await ledgerOf(t, folder)
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  t.after(() => objects.close())
  return { folder, objects, ledger }
}

/** `parts`: both stores, and whatever differs from the defaults. */
export function imagesOn(parts: Pick<Parts, 'objects' | 'ledger'> & Partial<Parts>): Images {
  const { now = Date.now } = parts
  return createImages({
    purges: NO_PURGES,
    maxUploadBytes: 1e6,
    stripMetadata: true,
    metrics: { upload() {}, removalByKey() {}, report() {} },
    hashes: nodeHashes,
    now,
    expiryClock: { latest: now },
    ...parts,
  })
}
