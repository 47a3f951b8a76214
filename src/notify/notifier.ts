/** Port: ways to tell the operator that something needs a decision, or has happened. */

export type NoticeKind =
  | 'case.urgent'
  | 'case.new'
  | 'case.due'
  | 'reports.flood'
  | 'cap.reached'
  | 'uploads.paused'
  | 'purge.stuck'
  | 'tombstones.stuck'
  | 'scanner.stuck'
  | 'disk.high'

/** What is told. Numbers, categories and links only: never an image, an address or what a reporter wrote. */
export interface Notice {
  /** The same at each attempt, so that a receiver can drop what it has seen. */
  id: string
  kind: NoticeKind
  /** Wants an answer within the hour. */
  isUrgent: boolean
  /** When it arose. Epoch milliseconds. */
  at: number
  /** One line. */
  title: string
  /** One sentence or two. */
  text: string
  /** Where the decision is made. `null` if the admin server has no address. */
  link: string | null
}

export interface Notifier {
  /** For logs, e.g. `ntfy://ntfy.sh`, without secrets. */
  readonly name: string
  /**
   * Resolves only after the receiver said that it has it. Throws `RemoteFailure` otherwise, with `retryAfterMs` if the
   * receiver named a time. Either way within `MAX_DELIVERY_MS`. A notice may arrive twice, if a reply was lost.
   */
  deliver(notice: Notice): Promise<void>
}

/** A receiver that has not answered by then is asked again later. */
export const MAX_DELIVERY_MS = 10_000
