/** Sample bytes and records, and helpers to store, read and compare them. */
import assert from 'node:assert/strict'
import { wholeFile } from '../../src/formats/image.ts'
import { ID_LENGTH } from '../../src/protocol.ts'
import {
  chunksOf,
  type ImageRecord,
  type ObjectStore,
  type Selection,
  type StoredImage,
} from '../../src/stores/object-store.ts'
import { sha256Of } from './sha256.ts'

/** Non-repeating bytes, so that misplaced pieces are detected. Deterministic for a seed. */
export function bytesFor(seed: number, length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4))
  let state = (seed * 2654435761 + 12345) >>> 0
  for (let at = 0; at < words.length; at++) {
    // xorshift32: fast and portable.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    if (state === 0) state = 0x9e3779b9
    words[at] = state
  }
  return new Uint8Array(words.buffer, 0, length)
}

/** A valid id that ends in `name`. */
export function idFor(name: string | number): string {
  return String(name).padStart(ID_LENGTH, '0')
}

/** A record that matches `bytes`. */
export function recordOf(id: string, bytes: Uint8Array, changes: Partial<ImageRecord> = {}): ImageRecord {
  const sha256 = sha256Of(bytes)
  return {
    id,
    type: 'image/jpeg',
    size: bytes.length,
    width: 640,
    height: 480,
    animated: false,
    sha256,
    sentSha256: sha256,
    keySha256: sha256Of(`key of ${id} ${sha256}`),
    createdAt: '2026-07-01T12:34:56.789Z',
    ...changes,
  }
}

/** `bytes` in chunks of `chunkBytes`. */
export async function* inChunks(bytes: Uint8Array, chunkBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

/** Stores `bytes` whole, and returns the record. `options`: of the commit. */
export async function put(
  store: ObjectStore,
  id: string,
  bytes: Uint8Array,
  changes: Partial<ImageRecord> = {},
  options?: { isContended: boolean },
): Promise<ImageRecord> {
  const record = recordOf(id, bytes, changes)
  const draft = await store.draft(inChunks(bytes), bytes.length)
  await draft.commit(record, wholeFile(draft), options)
  return record
}

/** All bytes of an opened image. Rethrows errors of its stream. */
export async function bodyOf(image: StoredImage): Promise<Uint8Array> {
  const chunks = await Array.fromAsync(chunksOf(image.body), (chunk) => Uint8Array.from(chunk))
  image.release?.()
  return Buffer.concat(chunks)
}

/** The selected bytes of an existing image. */
export async function read(store: ObjectStore, id: string, selection?: Selection): Promise<Uint8Array> {
  const image = await store.open(id, selection)
  assert.ok(image, 'an existing image must not look absent')
  return bodyOf(image)
}

/** Compares without printing megabytes on failure. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, message = 'bytes'): void {
  assert.equal(actual.length, expected.length, `${message}: length`)
  if (Buffer.compare(actual, expected) === 0) return
  const at = expected.findIndex((byte, index) => actual[index] !== byte)
  assert.fail(`${message}: first difference at ${at} of ${expected.length}`)
}

/** Asserts that exactly this image is visible as `record.id`. */
export async function assertHolds(store: ObjectStore, record: ImageRecord, bytes: Uint8Array): Promise<void> {
  assert.deepEqual(await store.head(record.id), record, 'head')
  const image = await store.open(record.id)
  assert.ok(image, 'open')
  assert.deepEqual(image.record, record, 'record of open')
  assert.equal(image.range, undefined, 'no range was requested')
  assertSameBytes(await bodyOf(image), bytes)
}

export async function assertAbsent(store: ObjectStore, id: string): Promise<void> {
  assert.equal(await store.head(id), null, 'head')
  assert.equal(await store.open(id), null, 'open')
  assert.equal(await store.open(id, { first: 0 }), null, 'open of a range')
}

/** Asserts that the image is held, not visible, and unchanged. */
export async function assertHeld(store: ObjectStore, record: ImageRecord, bytes: Uint8Array): Promise<void> {
  await assertAbsent(store, record.id)
  assert.deepEqual(await store.headHeld(record.id), record, 'headHeld')
  const image = await store.openHeld(record.id)
  assert.ok(image, 'openHeld')
  assert.deepEqual(image.record, record, 'record of openHeld')
  assertSameBytes(await bodyOf(image), bytes)
  assert.ok((await heldOf(store)).includes(record.id), 'listHeld')
}

export async function assertNotHeld(store: ObjectStore, id: string): Promise<void> {
  assert.equal(await store.headHeld(id), null, 'headHeld')
  assert.equal(await store.openHeld(id), null, 'openHeld')
  assert.ok(!(await heldOf(store)).includes(id), 'listHeld')
}

/** Where the image is. Asserts that it is unchanged, and nowhere else. */
export async function stateOf(
  store: ObjectStore,
  record: ImageRecord,
  bytes: Uint8Array,
): Promise<'visible' | 'held' | 'gone'> {
  if ((await store.head(record.id)) !== null) {
    await assertHolds(store, record, bytes)
    await assertNotHeld(store, record.id)
    return 'visible'
  }
  if ((await store.headHeld(record.id)) !== null) {
    await assertHeld(store, record, bytes)
    return 'held'
  }
  await assertAbsent(store, record.id)
  await assertNotHeld(store, record.id)
  return 'gone'
}

/** The ids of all held images, in order. */
export async function heldOf(store: ObjectStore): Promise<string[]> {
  return (await Array.fromAsync(store.listHeld())).sort()
}

export function listOf(store: ObjectStore, after?: string): Promise<string[]> {
  return Array.fromAsync(store.list(after))
}
