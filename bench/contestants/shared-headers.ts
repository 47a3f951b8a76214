/** What each server says of itself on its own. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive'])

/** Headers of our answer that every contestant is to send too. */
export function sharedHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !OWN_HEADERS.has(name))
}
