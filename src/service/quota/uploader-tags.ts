/**
 * Tags that tell which uploads are of one uploader, without an address: HMACs under two random salts of 48 hours that
 * begin 24 hours apart. Two uploads within 24 hours share a tag, across midnight too; those more than 48 hours apart
 * share none.
 */
import type { Ledger } from '../../stores/ledger.ts'
import type { UploaderTags } from '../../stores/uploader-tags.ts'
import type { Hashes } from '../hashes.ts'
import { DAY_MS, utcDayOf } from '../utc-day.ts'

export interface UploaderTagger {
  /** Records the tags of an upload that is stored as `id`. */
  tagsOf(id: string, address: string): Promise<UploaderTags>
}

/** Hex digits of an HMAC that tell addresses apart: 128 bits. */
const TAG_LENGTH = 32

export function createUploaderTagger(parts: {
  ledger: Pick<Ledger, 'daySalt'>
  hashes: Hashes
  now: () => number
}): UploaderTagger {
  const { ledger, hashes, now } = parts
  /** `day`: counted from the epoch. */
  async function tagOf(address: string, day: number): Promise<string> {
    // A label of its own: no tag is ever a bucket of the quota.
    const salt = await ledger.daySalt(utcDayOf(day * DAY_MS), 'links')
    return hashes.hmacSha256(salt, `uploader ${address}`).slice(0, TAG_LENGTH)
  }

  return {
    async tagsOf(id, address) {
      const atMs = now()
      const today = Math.floor(atMs / DAY_MS)
      const [even, odd] = today % 2 === 0 ? [today, today - 1] : [today - 1, today]
      const [tagA, tagB] = await Promise.all([tagOf(address, even), tagOf(address, odd)])
      return { id, atMs, number: Math.floor(Math.random() * 2 ** 48), tagA, tagB }
    },
  }
}
