/** The notifiers of `NOTIFY` that work without raw sockets: webhooks and ntfy. */
import { notifiersAt } from '../notify/addresses.ts'
import type { Notifier } from '../notify/notifier.ts'
import { ntfy } from '../notify/ntfy.ts'
import { webhook } from '../notify/webhook.ts'

/** Throws like `notifiersAt`. */
export function openNotifiers(addresses: string[]): Notifier[] {
  return notifiersAt<Notifier>(addresses, { 'https:': webhook, 'ntfy:': ntfy }, '; Workers cannot send email')
}
