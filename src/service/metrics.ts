/** What happens, counted. The words are labels of metrics: few, and never an id or an address. */
export interface Metrics {
  /** `outcome`: `stored`, `repeated`, or the code of a refusal. `bytes`: stored ones. */
  upload(outcome: string, bytes: number): void
  /** An image was removed with its deletion key. */
  removalByKey(): void
  /** A report was filed. */
  report(category: string): void
}
