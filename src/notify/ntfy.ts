/**
 * Push notifications through ntfy: `ntfy://ntfy.sh/topic`, with an access token `ntfy://:token@host/topic`. `?tls=off` for a
 * self-hosted server without TLS.
 *
 * Source: https://docs.ntfy.sh/publish/#publish-as-json. Priorities are 1 to 5: 3 is the default, 5 makes the phone ring.
 */
import { decoded } from './addresses.ts'
import type { Notifier } from './notifier.ts'
import { post } from './post.ts'

const TOPIC = /^\/([-_A-Za-z0-9]{1,64})$/

/** Throws an `Error` that explains the URL format. */
export function ntfy(url: URL): Notifier {
  const topic = TOPIC.exec(url.pathname)?.[1]
  if (topic === undefined)
    throw new Error('NOTIFY: ntfy:// needs a host and a topic, e.g. ntfy://ntfy.sh/topic')
  const scheme = url.searchParams.get('tls') === 'off' ? 'http' : 'https'
  const token = decoded(url.password)
  return {
    // Without the topic, which works like a password.
    name: `ntfy://${url.host}`,
    async deliver({ isUrgent, title, text, link }) {
      const body = JSON.stringify({
        topic,
        title,
        message: text,
        priority: isUrgent ? 5 : 3,
        ...(link === null ? {} : { click: link }),
      })
      const headers: Record<string, string> = { 'Content-Type': 'application/json' }
      if (token !== '') headers.Authorization = `Bearer ${token}`
      await post(`${scheme}://${url.host}/`, headers, body)
    },
  }
}
