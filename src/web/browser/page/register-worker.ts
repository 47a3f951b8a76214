import type { TrustedTypes } from '../../../client/worker/browser-host.ts'

const ADDRESS = '/service-worker.js'

/** Under Trusted Types it starts only from an address that a policy vouches for. */
export function registerWorker(): void {
  if (!('serviceWorker' in navigator)) return
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('pinhole-page', {
    createScriptURL(url) {
      if (url !== ADDRESS) throw new TypeError('only our own service worker')
      return url
    },
  })
  // A browser that refuses has no share sheet either: nothing is lost.
  navigator.serviceWorker.register(policy ? policy.createScriptURL(ADDRESS) : ADDRESS).catch(() => {})
}
