/** One command's uploads to one service, which end together if the service is gone or will take no more. */
import { ServerRefusal, Unreachable } from '../../client/errors.ts'
import { compress, send } from '../../client/node.ts'
import type { Input } from '../files/input.ts'
import type { UploadFlags } from '../options.ts'
import type { Bars } from '../terminal/bars.ts'
import type { Outcome } from './outcome.ts'

export interface Run {
  /** Never rejects. */
  uploadOne(input: Input): Promise<Outcome>
}

/** Codes of refusals that the next file would meet too. */
const FINAL = new Set<string>(['quota-exceeded', 'uploads-paused', 'storage-full'])

export function createRun(
  { mode, retries }: Pick<UploadFlags, 'mode' | 'retries'>,
  baseUrl: string,
  signal: AbortSignal,
  bars: Bars,
): Run {
  /** Fires when the run is over. What is on its way by then arrives: its link must not be lost. */
  const over = new AbortController()
  const working = AbortSignal.any([signal, over.signal])
  return {
    async uploadOne(input) {
      const { name } = input
      if (working.aborted) return { name, error: signal.aborted ? signal.reason : null }
      const bar = bars.start(name)
      const onProgress = bar.show
      try {
        const file = await input.read(working)
        const compressed = await compress(file, { mode, signal: working, onProgress })
        working.throwIfAborted()
        const sent = await send(compressed.blob, { baseUrl, retries, signal, onProgress })
        return { name, compressed, sent }
      } catch (error) {
        if (error === over.signal.reason) return { name, error: null }
        if (endsRun(error)) over.abort(new Error('the run is over'))
        return { name, error }
      } finally {
        bar.end()
      }
    },
  }
}

function endsRun(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  if (!(error instanceof ServerRefusal)) return false
  // Something else than a service answered, but for a proxy's limit on size: that is about one file.
  return error.problem === null ? error.status !== 413 : FINAL.has(error.code)
}
