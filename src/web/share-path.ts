/** Where phones post what is shared to us. Without the service worker it is the plain form's address. */
export const SHARE_PATH = '/share'

/** With this the page looks for what the service worker kept; `=2` says that two more did not fit. */
export const SHARED_QUERY = '?shared'
