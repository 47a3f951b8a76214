/** Acts of several processes on one image, in every order of their calls to the disk or the network. */
import assert from 'node:assert/strict'
import { type ObjectStore, removeAnywhere } from '../../../src/stores/object-store.ts'
import { gated } from '../../support/gate.ts'
import {
  assertAbsent,
  assertHeld,
  assertHolds,
  assertNotHeld,
  bytesFor,
  idFor,
  inChunks,
  put,
  recordOf,
} from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

const BYTES = bytesFor(1, 3000)

type Place = 'visible' | 'held' | 'gone'

interface Act {
  run(store: ObjectStore, id: string): Promise<unknown>
  /** Where it does something: what it may answer, and where the image is then. Elsewhere it answers `false`. */
  does: Partial<Record<Place, [answer: unknown, to: Place][]>>
}

const RETIRE = { retire: 'surely' } as const

const ACTS = {
  hold: {
    run: (store, id) => store.hold(id),
    // `false` too: another process was as fast, and moved it on.
    does: { visible: [true, false].map((answer) => [answer, 'held']) },
  },
  release: { run: (store, id) => store.release(id), does: { held: [[true, 'visible']] } },
  remove: { run: (store, id) => store.remove(id, RETIRE), does: { visible: [[true, 'gone']] } },
  removeHeld: { run: (store, id) => store.removeHeld(id, RETIRE), does: { held: [[true, 'gone']] } },
  removeAnywhere: {
    run: async (store, id) => (await removeAnywhere(store, id, RETIRE)) !== null,
    does: { visible: [[true, 'gone']], held: [[true, 'gone']] },
  },
  replace: {
    async run(store, id) {
      const draft = await store.draft(inChunks(BYTES), BYTES.length)
      return draft.replace(recordOf(id, BYTES), [{ offset: 0, length: draft.size }])
    },
    does: { visible: [['visible', 'visible']], held: [['held', 'held']], gone: [[null, 'gone']] },
  },
} satisfies Record<string, Act>

/** The acts of each process, one after another. */
type Processes = (keyof typeof ACTS)[][]

/**
 * `switches`: most times that a process waits that could go on. `acts`: a folder has no `replace`: a rename can't ask what it
 * replaces, so who repairs one asks the ledger afterwards.
 */
export function interleavingCases(
  { onHooks }: Harness,
  switches: number,
  acts: (keyof typeof ACTS)[] = ['hold', 'release', 'remove', 'removeHeld', 'replace'],
): void {
  const together: Processes[] = [
    ...acts.flatMap((act, nth) => acts.slice(nth).map((other): Processes => [[act], [other]])),
    ...[...acts, 'removeAnywhere' as const].flatMap((act): Processes[] => [
      [[act], ['hold', 'release']],
      [[act], ['release', 'hold']],
    ]),
  ]
  for (const from of ['visible', 'held'] as const) {
    onHooks(
      ['gated'],
      `gives acts on one that is ${from} an order, however they meet`,
      async (store, opened) => {
        let serial = 0
        for (const processes of together) {
          const stores = await Promise.all(processes.map(() => opened.gated()))
          await everyOrder(switches, async (choose) => {
            const id = idFor(serial++)
            await put(store, id, BYTES)
            if (from === 'held') await store.hold(id)
            const answers = await runIn(stores, processes, id, choose)
            const to = await placeOf(store, id).catch((error: Error) => error)
            assert.ok(
              !(to instanceof Error) && isExplained(processes, answers, from, to),
              `${JSON.stringify({ processes, answers, to: `${to}` })}, in the order ${choose.taken}`,
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
  /** Which of the processes that could go on does. */
  (ready: number[]): number
  readonly taken: readonly number[]
}

/** Every order in which at most `switches` times a process waits that could go on. */
async function everyOrder(switches: number, run: (choose: Choice) => Promise<void>): Promise<void> {
  const beginnings: number[][] = [[]]
  for (let begun = beginnings.pop(); begun !== undefined; begun = beginnings.pop()) {
    const beginning = begun
    const taken: number[] = []
    let left = switches
    const choose = (ready: number[]): number => {
      const last = taken.at(-1)
      const goesOn = last !== undefined && ready.includes(last)
      // Calls that one process makes at once may come in another order than the last time.
      const planned = ready.find((nth) => nth === beginning[taken.length])
      const chosen = planned ?? (goesOn ? last : ready[0]!)
      if (taken.length >= beginning.length && (left > 0 || !goesOn)) {
        for (const other of ready) if (other !== chosen) beginnings.push([...taken, other])
      }
      if (goesOn && chosen !== last) left--
      taken.push(chosen)
      return chosen
    }
    await run(Object.assign(choose, { taken }))
  }
}

/** What each process was answered; `choose` says which goes on at each call. */
async function runIn(
  stores: ObjectStore[],
  processes: Processes,
  id: string,
  choose: Choice,
): Promise<unknown[][]> {
  const waiting = processes.map((): (() => void)[] => [])
  const answers = processes.map((): unknown[] => [])
  let stopped = Promise.withResolvers<void>()
  processes.forEach(async (acts, nth) => {
    const gate = () =>
      new Promise<void>((resolve) => {
        waiting[nth]!.push(resolve)
        stopped.resolve()
      })
    await gated(gate, async () => {
      await gate()
      for (const act of acts) {
        const answer = await ACTS[act].run(stores[nth]!, id).catch((error: Error) => error)
        answers[nth]!.push(answer)
      }
    })
    stopped.resolve()
  })
  for (;;) {
    const ready = processes.flatMap((acts, nth) => (answers[nth]!.length < acts.length ? [nth] : []))
    if (ready.length === 0) return answers
    const nth = choose(ready)
    stopped = Promise.withResolvers()
    for (const goOn of waiting[nth]!.splice(0)) goOn()
    await stopped.promise
  }
}

/** Whether some order of whole acts gives these answers, and leaves the image there. */
function isExplained(processes: Processes, answers: unknown[][], from: Place, to: Place): boolean {
  const rest = processes.map((acts, nth) =>
    acts.map((act, at) => ({ act: ACTS[act] as Act, answer: answers[nth]![at] })),
  )
  const explains = (left: typeof rest, place: Place): boolean => {
    if (left.every((acts) => acts.length === 0)) return place === to
    return left.some(([first, ...others], nth) => {
      if (first === undefined) return false
      const then = left.with(nth, others)
      const outcomes = first.act.does[place] ?? [[false, place]]
      // An act that failed was carried out or not.
      if (first.answer instanceof Error)
        return [place, ...outcomes.map(([, to]) => to)].some((to) => explains(then, to))
      return outcomes.some(([answer, to]) => answer === first.answer && explains(then, to))
    })
  }
  return explains(rest, from)
}

async function placeOf(store: ObjectStore, id: string): Promise<Place> {
  const record = recordOf(id, BYTES)
  if ((await store.head(id)) !== null) {
    await assertHolds(store, record, BYTES)
    await assertNotHeld(store, id)
    return 'visible'
  }
  if ((await store.headHeld(id)) !== null) {
    await assertHeld(store, record, BYTES)
    return 'held'
  }
  await assertAbsent(store, id)
  await assertNotHeld(store, id)
  return 'gone'
}
