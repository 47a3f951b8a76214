/** Port: an image scanner in another process. The server itself never decodes images. */

/** Something to scan: an image or its preview. */
export interface ScanTarget {
  /** E.g. `image/jpeg`. */
  type: string
  /** Unit: bytes. */
  size: number
  /** SHA-256 of the bytes, lower-case hex. */
  sha256: string
  /** Each call reads from the start. */
  bytes(): AsyncIterable<Uint8Array>
}

/** `flag`: needs human review. `hold`: hidden until reviewed. `block`: not allowed. */
const VERDICTS = ['clean', 'flag', 'hold', 'block'] as const

export interface Verdict {
  verdict: (typeof VERDICTS)[number]
  /** A report category, if the scanner provides one. */
  category: string | null
  /** What the scanner found, for the operator: one line of at most `MAX_FINDING_LENGTH` characters. May be empty. */
  finding: string
}

export interface Scanner {
  /** Throws `RemoteFailure` if there is no verdict before `signal` is aborted. */
  scan(image: ScanTarget, signal: AbortSignal): Promise<Verdict>
}

/** Unit: characters. */
const MAX_FINDING_LENGTH = 300

/**
 * Parses a verdict in a scanner's format: `{"verdict": "hold", "category": "violence", "labels": [{"name": "gore", "score":
 * 0.9}]}`. `null` if `json` has no member `verdict`. Throws `TypeError` if the verdict is unknown.
 */
export function verdictOf(json: unknown): Verdict | null {
  if (typeof json !== 'object' || json === null || !('verdict' in json)) return null
  const { verdict, category, labels } = json as Record<string, unknown>
  const known = VERDICTS.find((one) => one === verdict)
  if (known === undefined) throw new TypeError(`verdict must be one of ${VERDICTS.join(', ')}`)
  const words = (Array.isArray(labels) ? labels : []).slice(0, 20).map(wordsOf).filter(Boolean).join(', ')
  return {
    verdict: known,
    category: typeof category === 'string' ? category : null,
    // Strips control characters, which could manipulate the operator's terminal.
    finding: words.replace(/\p{C}/gu, '').slice(0, MAX_FINDING_LENGTH),
  }
}

function wordsOf(label: unknown): string {
  const { name, score } = (label ?? {}) as Record<string, unknown>
  if (typeof name !== 'string') return ''
  return typeof score === 'number' ? `${name.slice(0, 100)} ${score}` : name.slice(0, 100)
}
