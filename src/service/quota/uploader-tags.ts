/**
 * Tags that link uploads of the same uploader or network without storing addresses: HMACs under two random salts, each valid
 * for 48 hours and starting 24 hours apart. Two uploads within 24 hours share a tag, even across midnight; uploads more than
 * 48 hours apart share none.
 */
import type { Ledger } from '../../stores/ledger.ts'
import { NETWORK_TAG_LENGTH, TAG_LENGTH, type UploaderTags } from '../../stores/uploader-tags.ts'
import { DAY_MS, utcDayOf } from '../../utc-day.ts'
import type { Hashes } from '../hashes.ts'

/** An address and its network, as the quota counts them. */
interface Client {
  address: string
  network: string
}

/** Computes the tags to record with the upload that is stored as `id`. `atMs`: the current time, epoch milliseconds. */
export type TagsOf = (id: string, client: Client, atMs: number) => Promise<UploaderTags>

export function createTagsOf({
  ledger,
  hashes,
}: {
  ledger: Pick<Ledger, 'daySalt'>
  hashes: Hashes
}): TagsOf {
  /** `day`: days since the epoch. */
  async function tagOf({ address, network }: Client, day: number): Promise<string> {
    // Distinct labels keep tags apart from quota buckets. 64 bits are enough to distinguish the uploads of two days.
    const salt = await ledger.daySalt(utcDayOf(day * DAY_MS), 'links')
    const ofNetwork = hashes.hmacSha256(salt, `network ${network}`).slice(0, NETWORK_TAG_LENGTH)
    return (ofNetwork + hashes.hmacSha256(salt, `uploader ${address}`)).slice(0, TAG_LENGTH)
  }

  return async (id, client, atMs) => {
    const today = Math.floor(atMs / DAY_MS)
    const [even, odd] = today % 2 === 0 ? [today, today - 1] : [today - 1, today]
    const [tagA, tagB] = await Promise.all([tagOf(client, even), tagOf(client, odd)])
    return { id, atMs, number: Math.floor(Math.random() * 2 ** 48), tagA, tagB }
  }
}
