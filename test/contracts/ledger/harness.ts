/** What the contract needs from an adapter's test, and how each case is run. */
import { type TestContext, test } from 'node:test'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { LedgerProcess } from '../../support/processes/ledger-process.ts'

/** A ledger that is empty at first, and the ways to reach it. */
export interface LedgerUnderTest {
  /** Opens a handle. The case closes it. */
  open(): Promise<Ledger>
  /** Starts a process with a handle of its own. */
  process?(): Promise<LedgerProcess>
  /** Makes the ledger unreachable, also for handles that are open. Resolves to what makes it reachable again. */
  interrupt?(): Promise<() => Promise<void>>
  /**
   * Puts on the disk what is yet to be, and resolves to what looks for texts, and bytes that they are the hex of, in all
   * files but those that this ledger is known to leave to its server.
   */
  raw?(): Promise<(texts: string[]) => Promise<{ file: string; text: string }[]>>
  /** Removes all that was made. */
  destroy(): Promise<void>
}

/** `isNew`: no case has used it before, not even one that emptied it. */
export type OpenLedger = (options?: { isNew: boolean }) => Promise<LedgerUnderTest>

type Hook = 'process' | 'interrupt' | 'raw'

export interface Subject {
  ledger: Ledger
  /** Another handle on the same ledger. Closed after the case. */
  another(): Promise<Ledger>
}

export interface Harness {
  /** A case with an empty ledger. */
  on(name: string, run: (ledger: Ledger, subject: Subject) => Promise<void>): void
  /** The same for a case that needs more than handles. */
  onHooks<H extends Hook>(
    hooks: H[],
    name: string,
    run: (ledger: Ledger, subject: Subject & Required<Pick<LedgerUnderTest, H>>) => Promise<void>,
  ): void
  open: OpenLedger
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
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
      const subject = {
        ledger: await another(),
        another,
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
