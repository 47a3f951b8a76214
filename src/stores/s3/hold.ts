/** Images out of sight, and their way back. See `bucket/markers.ts`. */
import { ID_PATTERN } from '../../protocol.ts'
import type { DraftBytes } from '../bucket/draft.ts'
import {
  FORSAKEN_COPY_MS,
  GOING,
  heldCopyOf,
  heldFolder,
  isRetired,
  listingStart,
  MARKER,
  MAX_ROUNDS,
  RETIRED,
  UNHELD,
} from '../bucket/markers.ts'
import {
  DamagedObject,
  type HeldImages,
  type ImageRecord,
  isCopyOf,
  piecesOf,
  StoreUnavailable,
  storedSize,
} from '../object-store.ts'
import { errorOf, isFull, textOf } from './answer.ts'
import type { S3Client } from './client.ts'
import {
  type FoundObject,
  headObject,
  listKeys,
  type Overwrite,
  RELEASE_HEADER,
  removeObject,
} from './objects.ts'
import { openObject, recordAt } from './read.ts'
import { marker } from './removal.ts'
import { encodeName, type S3Location } from './url.ts'
import { putOf } from './write.ts'

export function holdObjects(parts: {
  client: S3Client
  location: S3Location
  overwrite: Overwrite
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes>
}): HeldImages {
  const { client, location, overwrite, receive } = parts
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

  /** The marker of a held image, and its copy's key. */
  async function heldAt(id: string): Promise<{ found: FoundObject; copyKey: string } | null> {
    const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
    const name = found && heldCopyOf(found)
    return found && name ? { found, copyKey: folder + name } : null
  }

  /** After a process that died before its end. */
  async function finishRemoval(id: string): Promise<void> {
    const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
    const name = GOING.exec(found?.marker ?? '')?.[1]
    if (found === null || name === undefined) return
    await removeObject(client, folder + name)
    if (!isRetired(found)) await removeObject(client, keyOf(id))
  }

  async function hold(id: string): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const name = `${id}.${crypto.randomUUID()}`
    const { headers } = marker(`held ${name}`)
    // As long as a marker, and random, so that its ETag never repeats.
    const body = crypto.getRandomValues(new Uint8Array(MARKER.length))
    const doing = 'PUT a held image’s marker'
    // Nothing is acknowledged that another machine took for forsaken.
    const isCopied = async () => (await headObject(client, folder + name)) !== null
    const startedAt = performance.now()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await headObject(client, keyOf(id))
      if (found !== null && heldCopyOf(found) === name) return isCopied()
      if (found === null || found.marker !== null) {
        if (round > 0) await removeObject(client, folder + name)
        return false
      }
      await copy(keyOf(id), folder + name)
      // Its copy may be cleared away soon.
      if (performance.now() - startedAt > FORSAKEN_COPY_MS / 2) break
      const { outcome } = await overwrite(found.etag, { key: keyOf(id), headers, body, doing })
      if (outcome === 'done') return isCopied()
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
    const image = await openObject({ client, id, key: held.copyKey }, 'stored')
    // Another process released or removed it since.
    if (image === null) return false
    const draft = await receive(piecesOf(image.body), storedSize(image.record))
    try {
      if (!(await isCopyOf(image.record, draft))) throw new DamagedObject(id)
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
    const { headers, body } = await putOf({ record, draft, segments: [{ offset: 0, length: draft.size }] })
    const mine = crypto.randomUUID()
    const request = { key: keyOf(record.id), headers: { ...headers, [RELEASE_HEADER]: mine }, body, doing }
    const { outcome, isRepeated } = await overwrite(found.etag, request)
    if (typeof outcome !== 'string') throw errorOf(outcome, doing)
    // A first attempt may have been carried out, and its reply lost.
    const isOurs =
      outcome === 'done' || (isRepeated && (await headObject(client, request.key))?.release === mine)
    if (isOurs) await removeObject(client, copyKey)
    return isOurs
  }

  /** By the store's clock: one that is ahead here must not take a copy for old whose marker is on its way. */
  async function isForsaken(copyKey: string): Promise<boolean> {
    const copied = await headObject(client, copyKey)
    return copied !== null && copied.now - copied.modifiedAt > FORSAKEN_COPY_MS
  }

  return {
    hold,
    release,

    async headHeld(id) {
      const held = await heldAt(id)
      return held && recordAt({ client, id, key: held.copyKey })
    },

    async openHeld(id, selection) {
      const held = await heldAt(id)
      return held && openObject({ client, id, key: held.copyKey }, selection)
    },

    async removeHeld(id, removal) {
      const held = await heldAt(id)
      if (held === null) {
        await finishRemoval(id)
        return false
      }
      const doing = 'PUT a marker over a held one'
      const retires = removal !== undefined
      const mine = `${retires ? RETIRED : UNHELD}${held.copyKey.slice(folder.length)} ${crypto.randomUUID()}`
      const request = { key: keyOf(id), ...marker(mine, removal), doing }
      const { outcome, isRepeated } = await overwrite(held.found.etag, request)
      // A full store has no room for a marker, but images must go.
      const isLost = typeof outcome !== 'string'
      if (isLost && (!isFull(outcome) || removal?.retire === 'surely')) throw errorOf(outcome, doing)
      if (outcome === 'changed') {
        // A first attempt may have been carried out, and its reply lost.
        const isOurs = isRepeated && (await headObject(client, request.key))?.marker === mine
        if (!isOurs) return false
      }
      await removeObject(client, held.copyKey)
      if (isLost || !retires) await removeObject(client, keyOf(id)).catch(() => {})
      return true
    },

    async *listHeld(after = '') {
      for await (const { key } of listKeys(client, folder, { start: listingStart(after) })) {
        const name = key.slice(folder.length)
        const id = name.slice(0, name.indexOf('.'))
        if (id <= after) continue
        const held = await heldAt(id)
        if (held?.copyKey === key) yield id
        else if (ID_PATTERN.test(id) && (await isForsaken(key))) await removeObject(client, key)
      }
    },
  }
}
