import { forEachAtOnce } from '../../async.ts'

/**
 * Runs `work` over all items, at most `width` at a time, and hands each result to `emit` in the order of the items,
 * as soon as all before it are there. `work` must not reject.
 */
export async function inParallel<Item, Result>(
  items: Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
  emit: (result: Result) => void | Promise<void>,
): Promise<void> {
  const results = items.map(() => Promise.withResolvers<Result>())
  const all = forEachAtOnce([...items.entries()], width, async ([index, item]) => {
    results[index]!.resolve(await work(item))
  })
  for (const { promise } of results) await emit(await promise)
  await all
}
