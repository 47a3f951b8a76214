/** The ways of `NOTIFY` that need no socket: webhooks and ntfy. */

import type { Notifier } from '../notify/notifier.ts'
import { ntfy } from '../notify/ntfy.ts'
import { webhook } from '../notify/webhook.ts'

const WAYS: Record<string, (url: URL) => Notifier> = { 'https:': webhook, 'ntfy:': ntfy }

/** Throws an `Error` that says what is wrong with an address, without what is secret in it. */
export function openNotifiers(addresses: string[]): Notifier[] {
  return addresses.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    const open = url === null || url.hostname === '' ? undefined : WAYS[url.protocol]
    if (open === undefined) {
      throw new Error(
        `NOTIFY: an address begins with ${Object.keys(WAYS).join('//, ')}// and a host; Workers send no mail`,
      )
    }
    return open(url!)
  })
}
