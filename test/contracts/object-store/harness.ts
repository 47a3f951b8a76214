/** What the contract needs from an adapter's test, and how each case is run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { dyingAt } from '../../support/gate.ts'

/** A store under test. The optional hooks look behind the port; a case that needs a missing one is skipped, visibly. */
export interface OpenedStore {
  store: ObjectStore
  /** Closes the store and removes all it made. */
  close(): Promise<void>
  /** A second store over the same data, as another process would open it. Closed after the case. */
  reopen?(): Promise<ObjectStore>
  /** The same, an hour later by its own clock: what processes left that died before may be cleared away. */
  reopenLater?(): Promise<ObjectStore>
  /** The same, its calls to the disk or the network pass the gate of `support/gate.ts`, and none is tried again. */
  gated?(): Promise<ObjectStore>
  /**
   * Damages a visible image behind the store's back: flips one bit in the middle of its bytes, cuts their end off, or
   * flips one in its record.
   */
  corrupt?(id: string, damage: 'flip' | 'cut' | 'record'): Promise<void>
  /** Names of all that is kept besides whole images: temporary files, unfinished objects. */
  leftovers?(): Promise<string[]>
  /** How much is held open for readers now: file handles, connections. */
  handles?(): Promise<number> | number
}

export type OpenStore = () => Promise<OpenedStore>

export interface ContractOptions {
  /** Runs of the random model. */
  modelRuns?: number
  /** Drafts stay in memory, of which the host has a budget. */
  draftsInMemory?: boolean
}

type Hook = 'reopen' | 'reopenLater' | 'gated' | 'corrupt' | 'leftovers' | 'handles'

export interface Harness {
  /** A case with a fresh store. Afterwards nothing may be left besides whole images. */
  on(name: string, run: (store: ObjectStore, opened: OpenedStore) => Promise<void>): void
  /** The same for a case that looks behind the port. */
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

/** Runs `act` in a process that dies just before its `step`-th call, the first being 0. True if it died. */
export async function dying(
  { gated }: Required<Pick<OpenedStore, 'gated'>>,
  step: number,
  act: (store: ObjectStore) => Promise<unknown>,
): Promise<boolean> {
  const store = await gated()
  try {
    return await dyingAt(step, () => act(store))
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
      assert.deepEqual(await opened.leftovers(), [], 'nothing is left besides whole images')
    }
  } finally {
    await Promise.all(others.map((other) => other.close()))
    await opened.close()
  }
}
