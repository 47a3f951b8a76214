/** What a bench is told. */
export interface BenchOptions {
  /** A folder of its own, removed afterwards. */
  dir: string
  rounds: number
  /** Length of one turn. */
  seconds: number
  /** Stored images for `store`. */
  images: number
  /** Clients for `trickle`. */
  clients: number
  /** Whether what is found replaces what is kept. */
  save: boolean
}
