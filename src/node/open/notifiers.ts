/** Opens the notification channels configured in `NOTIFY`. */
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { notifiersAt } from '../../notify/addresses.ts'
import type { Notifier } from '../../notify/notifier.ts'
import type { Notices } from '../../service/moderation/notices.ts'
import { wireNotices } from '../../wiring/moderation.ts'
import { adminUrl } from '../admin/address.ts'
import type { Stores } from './stores.ts'

/** Mail and webhooks are loaded on demand: most servers use none. */
const CHANNELS: Record<string, (url: URL) => Promise<Notifier>> = {
  'https:': async (url) => (await import('../../notify/webhook.ts')).webhook(url),
  'ntfy:': async (url) => (await import('../../notify/ntfy.ts')).ntfy(url),
  'smtp:': async (url) => (await import('../../notify/smtp.ts')).smtp(url),
  'smtps:': async (url) => (await import('../../notify/smtp.ts')).smtp(url),
}

/** Throws an `Error` that explains what is wrong with an address without revealing its secrets. */
export async function openNotifiers(addresses: string[]): Promise<Notifier[]> {
  return Promise.all(notifiersAt(addresses, CHANNELS))
}

/** Notices about pending decisions, with a link to the admin server if it has an address. Throws like `openNotifiers`. */
export async function openNotices(
  config: Config,
  { ledger, clock }: Pick<Stores, 'ledger' | 'clock'>,
  log: Log,
): Promise<Notices> {
  const hasAddress = config.operatorUrl !== null || config.operatorListen.kind === 'address'
  return wireNotices({
    ledger,
    notifiers: await openNotifiers(config.notify),
    link: hasAddress ? adminUrl(config) : null,
    now: clock.now,
    log,
  })
}
