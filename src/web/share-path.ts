/** Share target that phones post to. Without the service worker, the server handles it like the plain form. */
export const SHARE_PATH = '/share'

/** Query after a share: tells the page to look for files kept by the service worker. `=2` means that two didn't fit. */
export const SHARED_QUERY = '?shared'
