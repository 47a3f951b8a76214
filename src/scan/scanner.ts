/** Port: what looks at pictures, in another process. The server decodes none. */

/** A picture to scan: an image, or its preview. */
export interface Scanned {
  /** E.g. `image/jpeg`. */
  type: string
  /** Unit: bytes. */
  size: number
  /** SHA-256 of the bytes, lower-case hex. */
  sha256: string
  /** From the start for every call. */
  bytes(): AsyncIterable<Uint8Array>
}

/** `flag`: people should look at it. `hold`: out of sight until they have. `block`: it must not be here. */
export const VERDICTS = ['clean', 'flag', 'hold', 'block'] as const

export interface Verdict {
  verdict: (typeof VERDICTS)[number]
  /** A category of reports, as far as the scanner names one. */
  category: string | null
  /** What it found, for the operator: one line of at most `FINDING_MOST` characters. Empty if it says nothing. */
  finding: string
}

export interface Scanner {
  /** Throws `RemoteFailure` if there is no verdict by the time that `signal` is aborted. */
  scan(image: Scanned, signal: AbortSignal): Promise<Verdict>
}

/** Unit: characters. */
export const FINDING_MOST = 300

/**
 * A verdict as a scanner writes it: `{"verdict": "hold", "category": "violence", "labels": [{"name": "gore", "score": 0.9}]}`.
 * `null` if `given` has no member `verdict`. Throws `TypeError` if it has one that is none.
 */
export function verdictOf(given: unknown): Verdict | null {
  if (typeof given !== 'object' || given === null || !('verdict' in given)) return null
  const { verdict, category, labels } = given as Record<string, unknown>
  const known = VERDICTS.find((one) => one === verdict)
  if (known === undefined) throw new TypeError(`a verdict is one of ${VERDICTS.join(', ')}`)
  const found = (Array.isArray(labels) ? labels : []).slice(0, 20).map(wordsOf).filter(Boolean).join(', ')
  return {
    verdict: known,
    category: typeof category === 'string' ? category : null,
    // Without control characters, which would play with the terminal that shows it.
    finding: found.replace(/\p{C}/gu, '').slice(0, FINDING_MOST),
  }
}

function wordsOf(label: unknown): string {
  const { name, score } = (label ?? {}) as Record<string, unknown>
  if (typeof name !== 'string') return ''
  return typeof score === 'number' ? `${name.slice(0, 100)} ${score}` : name.slice(0, 100)
}
