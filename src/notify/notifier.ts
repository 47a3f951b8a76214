/** Port: notifies the operator of events and of decisions to make. */

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

/** Contains only numbers, categories and links; never an image, an address or a reporter's text. */
export interface Notice {
  /** Stable across retries, so that receivers can drop duplicates. */
  id: string
  kind: NoticeKind
  /** Needs attention within the hour. */
  isUrgent: boolean
  /** When the event occurred. Epoch milliseconds. */
  at: number
  /** One line. */
  title: string
  /** One or two sentences. */
  text: string
  /** URL of the operator's pages. `null` if the admin server has no address. */
  link: string | null
}

export interface Notifier {
  /** For logs, e.g. `ntfy://ntfy.sh`, without secrets. */
  readonly name: string
  /**
   * At-least-once delivery: resolves only after the receiver has confirmed the notice. Throws `RemoteFailure` otherwise, with
   * `retryAfterMs` if the receiver sent a `Retry-After`. Settles within `MAX_DELIVERY_MS`.
   */
  deliver(notice: Notice): Promise<void>
}

/** Timeout of a delivery. It is retried later. */
export const MAX_DELIVERY_MS = 10_000
