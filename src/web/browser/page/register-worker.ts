/** Under Trusted Types a service worker starts only from an address that a policy vouches for. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

const ADDRESS = '/service-worker.js'

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
