/**
 * Images out of sight. What is under an image's own key alone says where the image is: the image itself, visible; or a
 * tombstone that names a copy, `<prefix>held/<id>.<token>`, held. So it is in one place at every moment.
 *
 * A hold copies the image and then overwrites it by such a tombstone, on condition that it is still the one that was
 * read. A release puts the bytes of the copy back over the tombstone, on the same condition. A copy that no
 * tombstone names was left by a process that died in between. It is nobody's image, and is cleared away.
 */
import { ID_PATTERN } from '../../protocol.ts'
import { type HeldImages, type ImageRecord, StoreUnavailable } from '../object-store.ts'
import { errorOf, isFull } from './answer.ts'
import type { S3Client } from './client.ts'
import { bodyOf, type DraftBytes, headersOf } from './commit.ts'
import {
  type FoundObject,
  headObject,
  heldCopyOf,
  isRetired,
  RELEASE_HEADER,
  RETIRED,
  TOMBSTONE_HEADER,
} from './head.ts'
import { listKeys } from './list.ts'
import type { Overwrite } from './overwrite.ts'
import { openObject, recordAt } from './read.ts'
import { RETIRED_TOMBSTONE, removeObject, TOMBSTONE } from './removal.ts'
import { encodeName, type S3Location } from './url.ts'
import { textOf } from './xml.ts'

/** A copy of this age that no tombstone names has lost its hold, although the clocks of machines differ. */
const FORSAKEN_MS = 1_800_000

/** What Amazon and most others give at most. */
const PAGE_KEYS = 1000

/** What the tombstone of an image says that was held and is being removed, before the name of its copy. */
const UNHELD = 'unheld '

/** The same, and of an image whose id is retired. */
const GOING = new RegExp(`^(?:${UNHELD}|${RETIRED})(\\S+\\.\\S+) `)

/** Each round is lost only to somebody else who moves or removes the same image. */
const MAX_ROUNDS = 5

/** Where copies of held images are. */
export function heldFolder(prefix: string): string {
  return `${prefix}held/`
}

export function holdObjects(parts: {
  client: S3Client
  location: S3Location
  overwrite: Overwrite
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes>
  now: () => number
}): HeldImages {
  const { client, location, overwrite, receive, now } = parts
  const { bucket, prefix } = location
  const folder = heldFolder(prefix)
  const keyOf = (id: string) => prefix + id

  async function copy(from: string, to: string): Promise<void> {
    const doing = 'COPY an image'
    const source = `/${[bucket, ...from.split('/')].map(encodeName).join('/')}`
    const headers = { 'x-amz-copy-source': source }
    const { value, failure } = await client.ask({ method: 'PUT', key: to, headers, doing })
    if (failure !== null) throw errorOf(failure, doing)
    // Amazon begins its answer before it is done: an error may follow a 200.
    const code = textOf(value ?? '', 'Code')
    if (code !== null) throw new StoreUnavailable({ cause: new Error(`S3 answered ${code} (${doing})`) })
  }

  /** The tombstone of a held image, and its copy's key. */
  async function heldAt(id: string): Promise<{ found: FoundObject; copyKey: string } | null> {
    const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
    const name = found && heldCopyOf(found)
    return found && name ? { found, copyKey: folder + name } : null
  }

  /** Of a process that died before its end. */
  async function finishRemoval(id: string): Promise<void> {
    const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
    const copy = GOING.exec(found?.tombstone ?? '')?.[1]
    if (found === null || copy === undefined) return
    await removeObject(client, folder + copy)
    if (!isRetired(found)) await removeObject(client, keyOf(id))
  }

  async function hold(id: string): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const name = `${id}.${crypto.randomUUID()}`
    // As long as other tombstones, which listings tell by their size, and never twice the same: neither is its ETag.
    const body = crypto.getRandomValues(new Uint8Array(TOMBSTONE.length))
    const headers = { 'cache-control': 'no-store', [TOMBSTONE_HEADER]: `held ${name}` }
    const doing = 'PUT a held image’s tombstone'
    const startedAt = performance.now()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await headObject(client, keyOf(id))
      if (found !== null && heldCopyOf(found) === name) return true
      if (found === null || found.tombstone !== null) {
        if (round > 0) await removeObject(client, folder + name)
        return false
      }
      await copy(keyOf(id), folder + name)
      // Its copy may be cleared away soon.
      if (performance.now() - startedAt > FORSAKEN_MS / 2) break
      const { outcome } = await overwrite(found.etag, { key: keyOf(id), headers, body, doing })
      if (outcome === 'done') return true
      if (outcome !== 'changed') {
        if (isFull(outcome)) await removeObject(client, folder + name).catch(() => {})
        throw errorOf(outcome, doing)
      }
    }
    throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be held') })
  }

  async function release(id: string): Promise<boolean> {
    const held = await heldAt(id)
    if (held === null) return false
    const image = await openObject({ client, id, key: held.copyKey })
    // Somebody else released or removed it since.
    if (image === null) return false
    const draft = await receive(piecesOf(image.body), image.record.size)
    try {
      return await putBack(image.record, draft, held)
    } finally {
      await draft.discard()
    }
  }

  async function putBack(
    record: ImageRecord,
    draft: DraftBytes,
    { found, copyKey }: { found: FoundObject; copyKey: string },
  ): Promise<boolean> {
    const doing = 'PUT a held image back'
    const body = await bodyOf(draft, [{ offset: 0, length: draft.size }])
    const mine = crypto.randomUUID()
    const headers = { ...headersOf(record), [RELEASE_HEADER]: mine }
    const request = { key: keyOf(record.id), headers, body, doing }
    const { outcome, isRepeated } = await overwrite(found.etag, request)
    if (typeof outcome !== 'string') throw errorOf(outcome, doing)
    // A first attempt may have been carried out, and its reply lost.
    const isOurs =
      outcome === 'done' || (isRepeated && (await headObject(client, request.key))?.release === mine)
    if (isOurs) await removeObject(client, copyKey)
    return isOurs
  }

  return {
    hold,
    release,

    async headHeld(id) {
      const held = await heldAt(id)
      return held && recordAt({ client, id, key: held.copyKey })
    },

    async openHeld(id) {
      const held = await heldAt(id)
      return held && openObject({ client, id, key: held.copyKey })
    },

    async removeHeld(id, removal) {
      const held = await heldAt(id)
      if (held === null) {
        await finishRemoval(id)
        return false
      }
      const doing = 'PUT a tombstone over a held one'
      const retires = removal !== undefined
      const mine = `${retires ? RETIRED : UNHELD}${held.copyKey.slice(folder.length)} ${crypto.randomUUID()}`
      const headers = { 'cache-control': 'no-store', [TOMBSTONE_HEADER]: mine }
      const request = { key: keyOf(id), headers, body: retires ? RETIRED_TOMBSTONE : TOMBSTONE, doing }
      const { outcome, isRepeated } = await overwrite(held.found.etag, request)
      // A full store has no room for a tombstone, but images must go.
      const isLost = typeof outcome !== 'string'
      if (isLost && (!isFull(outcome) || removal?.retire === 'surely')) throw errorOf(outcome, doing)
      if (outcome === 'changed') {
        // A first attempt may have been carried out, and its reply lost.
        const isOurs = isRepeated && (await headObject(client, request.key))?.tombstone === mine
        if (!isOurs) return false
      }
      await removeObject(client, held.copyKey)
      if (isLost || !retires) await removeObject(client, keyOf(id)).catch(() => {})
      return true
    },

    async *listHeld() {
      for await (const { key, modifiedAt } of listKeys(client, folder, PAGE_KEYS, '')) {
        const name = key.slice(folder.length)
        const id = name.slice(0, name.indexOf('.'))
        const held = await heldAt(id)
        if (held?.copyKey === key) yield id
        else if (ID_PATTERN.test(id) && now() - modifiedAt > FORSAKEN_MS) await removeObject(client, key)
      }
    },
  }
}

async function* piecesOf(body: Uint8Array | ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}
