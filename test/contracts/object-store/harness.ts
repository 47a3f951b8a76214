/** What the contract needs from an adapter's test, and how its cases run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { crashesAt } from '../../support/gate.ts'

/** A store under test. The optional hooks look behind the port; a case whose hook is missing is reported as skipped. */
export interface OpenedStore {
  store: ObjectStore
  /** Closes the store and removes its data. */
  close(): Promise<void>
  /** A second store over the same data, opened as by another process. Closed after the case. */
  reopen?(): Promise<ObjectStore>
  /** Like `reopen`, but with a clock that is an hour ahead, so that leftovers of crashed processes count as abandoned. */
  reopenLater?(): Promise<ObjectStore>
  /** Like `reopen`, but disk and network calls pass the gate of `support/gate.ts` and are never retried. */
  gated?(): Promise<ObjectStore>
  /**
   * Damages a visible image behind the store's back: flips one bit in the middle of its bytes, truncates them, or flips one
   * bit in its record.
   */
  corrupt?(id: string, damage: 'flip' | 'cut' | 'record'): Promise<void>
  /** Names of everything stored other than whole images: temporary files, unfinished objects. */
  leftovers?(): Promise<string[]>
  /** Number of file handles or connections that are currently open for readers. */
  handles?(): Promise<number> | number
}

export type OpenStore = () => Promise<OpenedStore>

export interface ContractOptions {
  /** Runs of the randomized model test. */
  modelRuns?: number
  /** Drafts stay in memory, for which the host has a budget. */
  draftsInMemory?: boolean
}

type Hook = 'reopen' | 'reopenLater' | 'gated' | 'corrupt' | 'leftovers' | 'handles'

export interface Harness {
  /** A case with a fresh store. Afterwards nothing but whole images may be left. */
  on(name: string, run: (store: ObjectStore, opened: OpenedStore) => Promise<void>): void
  /** The same, for a case that needs hooks. */
  onHooks<H extends Hook>(
    hooks: H[],
    name: string,
    run: (store: ObjectStore, opened: OpenedStore & Required<Pick<OpenedStore, H>>) => Promise<void>,
  ): void
  open: OpenStore
}

export function harnessOf(open: OpenStore): Harness {
  return {
    open,
    on: (name, run) => {
      test(name, () => withStore(open, run))
    },
    onHooks: (hooks, name, run) => {
      test(name, (t) =>
        withStore(open, async (store, opened) => {
          const missing = hooks.filter((hook) => opened[hook] === undefined)
          if (missing.length > 0) return t.skip(`does not apply: no hook: ${missing.join(', ')}`)
          await run(store, opened as Parameters<typeof run>[1])
        }),
      )
    },
  }
}

/** Runs `operation` and simulates a crash just before its call number `step`, counted from 0. True if it crashed. */
export async function storeCrashesAt(
  { gated }: Required<Pick<OpenedStore, 'gated'>>,
  step: number,
  operation: (store: ObjectStore) => Promise<unknown>,
): Promise<boolean> {
  const store = await gated()
  try {
    return await crashesAt(step, () => operation(store))
  } finally {
    await store.close()
  }
}

async function withStore(
  open: OpenStore,
  run: (store: ObjectStore, opened: OpenedStore) => Promise<void>,
): Promise<void> {
  const opened = await open()
  const others: ObjectStore[] = []
  const closedAfter = (reopen: (() => Promise<ObjectStore>) | undefined) =>
    reopen &&
    (async () => {
      const other = await reopen()
      others.push(other)
      return other
    })
  const [reopen, reopenLater] = [closedAfter(opened.reopen), closedAfter(opened.reopenLater)]
  try {
    await run(opened.store, { ...opened, ...(reopen && { reopen }), ...(reopenLater && { reopenLater }) })
    if (opened.leftovers !== undefined) {
      assert.deepEqual(await opened.leftovers(), [], 'leftovers besides whole images')
    }
  } finally {
    await Promise.all(others.map((other) => other.close()))
    await opened.close()
  }
}
