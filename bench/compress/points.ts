import type { Difference } from './butteraugli.ts'
import type { Half } from './photographs.ts'

/** One setting on one photograph. */
export interface Point {
  half: Half
  name: string
  /** See `sweep.ts`. */
  setting: string
  bytes: number
  pixels: number
  /** SSIMULACRA2. */
  score: number
  /** Measured for contestants. */
  butteraugli?: Difference
}
