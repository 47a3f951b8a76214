/** Harness of the ledger contract: what an adapter's test provides, and how cases are run. */
import { type TestContext, test } from 'node:test'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { LedgerProcess } from '../../support/processes/ledger-process.ts'

/** An initially empty ledger, and the ways to access it. */
export interface LedgerUnderTest {
  /** Opens a handle, which the caller closes. */
  open(): Promise<Ledger>
  /** Starts a process with its own handle. */
  process?(): Promise<LedgerProcess>
  /** Makes the ledger unreachable, even for open handles. Resolves to a function that makes it reachable again. */
  interrupt?(): Promise<() => Promise<void>>
  /**
   * Flushes pending writes. Resolves to a function that searches all files for texts, and for the bytes that they encode in
   * hex, except files that the ledger is known to leave to its server.
   */
  raw?(): Promise<(texts: string[]) => Promise<{ file: string; text: string }[]>>
  /** Removes everything created. */
  destroy(): Promise<void>
}

/** `isNew`: never used by another case, not even by one that emptied it. */
export type OpenLedger = (options?: { isNew: boolean }) => Promise<LedgerUnderTest>

type Hook = 'process' | 'interrupt' | 'raw'

export interface Subject {
  ledger: Ledger
  /** Another handle on the same ledger. Closed after the case. */
  another(): Promise<Ledger>
  /** Makes `count` concurrent calls, on this handle and two others in turn. */
  concurrently<T>(count: number, call: (handle: Ledger, index: number) => Promise<T>): Promise<T[]>
}

export interface Harness {
  /** Registers a case that runs on an empty ledger. */
  on(name: string, run: (ledger: Ledger, subject: Subject) => Promise<void>): void
  /** Registers a case that needs more than handles. Skipped for adapters without these hooks. */
  onHooks<H extends Hook>(
    hooks: H[],
    name: string,
    run: (ledger: Ledger, subject: Subject & Required<Pick<LedgerUnderTest, H>>) => Promise<void>,
  ): void
  open: OpenLedger
}

export function harnessOf(open: OpenLedger): Harness {
  const withLedger = async (t: TestContext, hooks: Hook[], run: (subject: Subject) => Promise<void>) => {
    const under = await open()
    const handles: Ledger[] = []
    const processes: LedgerProcess[] = []
    const another = async () => {
      const handle = await under.open()
      handles.push(handle)
      return handle
    }
    try {
      const missing = hooks.filter((hook) => under[hook] === undefined)
      if (missing.length > 0) return t.skip(`does not apply: no hook: ${missing.join(', ')}`)
      const process = async () => {
        const started = await under.process!()
        processes.push(started)
        return started
      }
      const ledger = await another()
      let others: Promise<Ledger[]> | undefined
      const concurrently: Subject['concurrently'] = async (count, call) => {
        others ??= Promise.all([another(), another()])
        const used = [ledger, ...(await others)]
        return Promise.all(Array.from({ length: count }, (_, index) => call(used[index % 3]!, index)))
      }
      const subject = {
        ledger,
        another,
        concurrently,
        process,
        interrupt: under.interrupt,
        raw: under.raw,
      }
      await run(subject)
    } finally {
      await Promise.all(processes.map((each) => each.end()))
      await Promise.all(handles.map((handle) => handle.close()))
      await under.destroy()
    }
  }
  return {
    open,
    on: (name, run) => {
      test(name, (t) => withLedger(t, [], (subject) => run(subject.ledger, subject)))
    },
    onHooks: (hooks, name, run) => {
      test(name, (t) =>
        withLedger(t, hooks, (subject) => run(subject.ledger, subject as Parameters<typeof run>[1])),
      )
    },
  }
}
