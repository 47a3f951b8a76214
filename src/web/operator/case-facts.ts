/** What the page of a case shows. */
import type { Decision } from '../../stores/decisions.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import type { Case, Report } from '../../stores/reports.ts'
import type { Step } from './picture.ts'

export interface CaseFacts {
  id: string
  /** `null` if nobody reported it. */
  found: Case | null
  /** The first of them. */
  reports: Pick<Report, 'category' | 'text' | 'contact' | 'at'>[]
  image: {
    state: 'visible' | 'held' | 'damaged' | 'removed' | 'deleted' | 'withheld' | 'absent'
    record: Omit<ImageRecord, 'keySha256'> | null
  }
  /** How many the same uploader stored in the two days. `null`: that can't be read now, as on a full disk. */
  others: number | null
  /** Ids in the queue that have the same bytes. */
  doubles: string[]
  /** The case before it in the queue. */
  previous: string | null
  next: string | null
  show: Step
  pending: Decision[]
  /** Epoch milliseconds. */
  now: number
}
