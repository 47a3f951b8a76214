/** One command's uploads to one service, which end together if the service is gone or will take no more. */
import { toHex } from '../../bytes.ts'
import { sendUntilLeft } from '../../client/api/send-until-left.ts'
import { ServerRefusal, Unreachable } from '../../client/errors.ts'
import { compress, send } from '../../client/node.ts'
import type { Input } from '../files/input.ts'
import type { Entry } from '../history.ts'
import type { UploadFlags } from '../options.ts'
import { isUploadGone } from '../service.ts'
import type { Bars } from '../terminal/bars.ts'
import { type Outcome, remember } from './outcome.ts'

/** What all uploads of a command have in common. */
export interface Session {
  flags: UploadFlags
  server: string
  signal: AbortSignal
  bars: Bars
  /** Earlier uploads, by mode and digest: these files need not be sent again. */
  uploaded: Map<string, Entry>
}

export interface Run {
  /** Never rejects. */
  uploadOne(input: Input): Promise<Outcome>
  /** Why the run ended before its last file. `null` if it did not. */
  ending(): unknown
}

/** Codes of refusals that the next file would meet too. */
const FINAL = new Set<string>([
  'quota-exceeded',
  'network-quota-exceeded',
  'too-many-refusals',
  'uploads-paused',
  'capacity-reached',
  'storage-full',
])

/** For the answer to an upload that Ctrl-C met when all of it had left. */
const PATIENCE_MS = 5000

export function createRun({ flags, server, signal, bars, uploaded }: Session): Run {
  const { mode, convert, retries, expires } = flags
  /** Fires when the run is over. What is on its way by then arrives: its link must not be lost. */
  const over = new AbortController()
  const working = AbortSignal.any([signal, over.signal])
  return {
    async uploadOne(input) {
      const { name } = input
      if (working.aborted) return { name, isUnsent: true }
      const bar = bars.start(name)
      const onProgress = bar.show
      try {
        const file = await input.read(working)
        const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer())
        const sha256 = toHex(new Uint8Array(digest))
        const known = uploaded.get(`${mode} ${sha256}`)
        // It may have been deleted elsewhere since: then it is uploaded again.
        if (known && !(await isUploadGone(known, working).catch(() => false))) return { name, known }
        const compressed = await compress(file, { mode, convert, signal: working, onProgress })
        working.throwIfAborted()
        const options = {
          baseUrl: server,
          retries,
          signal,
          onProgress,
          ...(expires && { expires }),
          ...(compressed.preview && { preview: compressed.preview }),
        }
        const sent = await sendUntilLeft(send, compressed.blob, options, PATIENCE_MS)
        const linked = { name, compressed, sent, source: { sha256, mode, server } }
        // Not when its link is printed: that is after those of the files before it, and the command may have ended by then.
        if (flags.history) await remember(linked, bars)
        return linked
      } catch (error) {
        // The first reason stands: aborting again changes nothing.
        if (endsRun(error)) over.abort(error)
        else if (!working.aborted || error !== working.reason) return { name, error }
        return { name, isUnsent: true }
      } finally {
        bar.end()
      }
    },
    ending: () => (signal.aborted ? signal.reason : over.signal.reason) ?? null,
  }
}

function endsRun(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  if (!(error instanceof ServerRefusal)) return false
  // Something else than a service answered, but for a proxy's limit on size: that is about one file.
  return error.problem === null ? error.status !== 413 : FINAL.has(error.code)
}
