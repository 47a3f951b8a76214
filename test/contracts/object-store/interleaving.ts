/** Concurrent operations of several processes on one image, in every interleaving of their disk or network calls. */
import assert from 'node:assert/strict'
import { type ObjectStore, removeAnywhere } from '../../../src/stores/object-store.ts'
import { gated } from '../../support/gate.ts'
import { bytesFor, idFor, inChunks, put, recordOf, stateOf } from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

const BYTES = bytesFor(1, 3000)

type State = 'visible' | 'held' | 'gone'

interface Operation {
  run(store: ObjectStore, id: string): Promise<unknown>
  /** By initial state: possible results and the resulting state. In states that are not listed it returns `false`. */
  effects: Partial<Record<State, [result: unknown, to: State][]>>
}

const RETIRE = { retire: 'surely' } as const

const OPERATIONS = {
  hold: {
    run: (store, id) => store.hold(id),
    // `false` if another process moved the image on in the meantime.
    effects: { visible: [true, false].map((result) => [result, 'held']) },
  },
  release: { run: (store, id) => store.release(id), effects: { held: [[true, 'visible']] } },
  remove: { run: (store, id) => store.remove(id, RETIRE), effects: { visible: [[true, 'gone']] } },
  removeHeld: { run: (store, id) => store.removeHeld(id, RETIRE), effects: { held: [[true, 'gone']] } },
  removeAnywhere: {
    run: async (store, id) => (await removeAnywhere(store, id, RETIRE)) !== null,
    effects: { visible: [[true, 'gone']], held: [[true, 'gone']] },
  },
  replace: {
    async run(store, id) {
      const draft = await store.draft(inChunks(BYTES), BYTES.length)
      return draft.replace(recordOf(id, BYTES), [{ offset: 0, length: draft.size }])
    },
    effects: { visible: [['visible', 'visible']], held: [['held', 'held']], gone: [[null, 'gone']] },
  },
} satisfies Record<string, Operation>

/** The operations of each process, run sequentially. */
type Processes = (keyof typeof OPERATIONS)[][]

/**
 * `switches`: maximum number of preemptions per run. `operations`: a folder leaves out `replace`, since a rename can't be
 * conditional on what it replaces; a repair of a folder checks the ledger afterwards.
 */
export function interleavingCases(
  { onHooks }: Harness,
  switches: number,
  operations: (keyof typeof OPERATIONS)[] = ['hold', 'release', 'remove', 'removeHeld', 'replace'],
): void {
  const combinations: Processes[] = [
    ...operations.flatMap((operation, index) =>
      operations.slice(index).map((other): Processes => [[operation], [other]]),
    ),
    ...[...operations, 'removeAnywhere' as const].flatMap((operation): Processes[] => [
      [[operation], ['hold', 'release']],
      [[operation], ['release', 'hold']],
    ]),
  ]
  for (const from of ['visible', 'held'] as const) {
    onHooks(
      ['gated'],
      `makes concurrent operations on a ${from} image linearizable`,
      async (store, opened) => {
        let serial = 0
        for (const processes of combinations) {
          const stores = await Promise.all(processes.map(() => opened.gated()))
          await everyOrder(switches, async (choose) => {
            const id = idFor(serial++)
            await put(store, id, BYTES)
            if (from === 'held') await store.hold(id)
            const results = await runIn(stores, processes, id, choose)
            const to = await stateOf(store, recordOf(id, BYTES), BYTES).catch((error: Error) => error)
            assert.ok(
              !(to instanceof Error) && isLinearizable(processes, results, from, to),
              `${JSON.stringify({ processes, results, to: `${to}` })}, in the order ${choose.taken}`,
            )
            await removeAnywhere(store, id)
          })
          await Promise.all(stores.map((each) => each.close()))
        }
      },
    )
  }
}

interface Choice {
  /** Selects which of the ready processes continues. */
  (ready: number[]): number
  readonly taken: readonly number[]
}

/** Runs every interleaving with at most `switches` preemptions. */
async function everyOrder(switches: number, run: (choose: Choice) => Promise<void>): Promise<void> {
  const prefixes: number[][] = [[]]
  for (let next = prefixes.pop(); next !== undefined; next = prefixes.pop()) {
    const prefix = next
    const taken: number[] = []
    let left = switches
    const choose = (ready: number[]): number => {
      const last = taken.at(-1)
      const canContinue = last !== undefined && ready.includes(last)
      // Concurrent calls of one process may come in a different order than in the previous run.
      const planned = ready.find((index) => index === prefix[taken.length])
      const chosen = planned ?? (canContinue ? last : ready[0]!)
      if (taken.length >= prefix.length && (left > 0 || !canContinue)) {
        for (const other of ready) if (other !== chosen) prefixes.push([...taken, other])
      }
      if (canContinue && chosen !== last) left--
      taken.push(chosen)
      return chosen
    }
    await run(Object.assign(choose, { taken }))
  }
}

/** Runs the processes and returns their results. `choose` selects the process that continues at each call. */
async function runIn(
  stores: ObjectStore[],
  processes: Processes,
  id: string,
  choose: Choice,
): Promise<unknown[][]> {
  const waiting = processes.map((): (() => void)[] => [])
  const results = processes.map((): unknown[] => [])
  let stopped = Promise.withResolvers<void>()
  processes.forEach(async (operations, index) => {
    const gate = () =>
      new Promise<void>((resolve) => {
        waiting[index]!.push(resolve)
        stopped.resolve()
      })
    await gated(gate, async () => {
      await gate()
      for (const operation of operations) {
        const result = await OPERATIONS[operation].run(stores[index]!, id).catch((error: Error) => error)
        results[index]!.push(result)
      }
    })
    stopped.resolve()
  })
  for (;;) {
    const ready = processes.flatMap((operations, index) =>
      results[index]!.length < operations.length ? [index] : [],
    )
    if (ready.length === 0) return results
    const index = choose(ready)
    stopped = Promise.withResolvers()
    for (const proceed of waiting[index]!.splice(0)) proceed()
    await stopped.promise
  }
}

/** Whether some sequential order of the operations produces these results and this final state. */
function isLinearizable(processes: Processes, results: unknown[][], from: State, to: State): boolean {
  const all = processes.map((operations, index) =>
    operations.map((name, at) => ({
      operation: OPERATIONS[name] as Operation,
      result: results[index]![at],
    })),
  )
  const explains = (left: typeof all, state: State): boolean => {
    if (left.every((operations) => operations.length === 0)) return state === to
    return left.some(([first, ...others], index) => {
      if (first === undefined) return false
      const rest = left.with(index, others)
      const outcomes = first.operation.effects[state] ?? [[false, state]]
      // A failed operation may or may not have taken effect.
      if (first.result instanceof Error)
        return [state, ...outcomes.map(([, to]) => to)].some((to) => explains(rest, to))
      return outcomes.some(([result, to]) => result === first.result && explains(rest, to))
    })
  }
  return explains(all, from)
}
