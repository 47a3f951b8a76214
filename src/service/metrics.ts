/** Event counters. The string arguments become metric labels: few distinct values, and never an ID or an address. */
export interface Metrics {
  /** `outcome`: `stored`, `repeated`, or a refusal's code. `bytes`: number of bytes stored. */
  upload(outcome: string, bytes: number): void
  /** An image was removed with its deletion key. */
  removalByKey(): void
  /** A report was filed. */
  report(category: string): void
}
