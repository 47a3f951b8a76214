/** The cells to measure. Cells that can be computed from bytes and bandwidth are not measured. */
import { DRAWING, type Name, PHOTOGRAPHS, SCREENSHOT, TWENTY } from './pictures.ts'

export const ENGINES = ['chromium', 'firefox'] as const
/** Bandwidths of the connection. */
const MEGABITS = [1, 10, 50] as const
/** Contestants that compress first and then send are only measured on the fastest connection; the others are computed. */
export const FASTEST = 50
/** For subjects whose compression does not depend on the bandwidth. */
const USUAL = 10
export const SHARES = { whole: 1, quarter: 0.25 } as const
/** `best`: our page without knowledge of the connection, so that it always compresses fully. */
export const CONTESTANTS = ['pinhole', 'best', 'as it is', 'compressorjs', 'Squoosh'] as const
/** Rounds per photograph for our page. The median counts. */
const ROUNDS = 5

export type Engine = (typeof ENGINES)[number]
export type Share = keyof typeof SHARES
export type Contestant = (typeof CONTESTANTS)[number]

export interface Cell {
  engine: Engine
  subject: Name
  megabits: number
  share: Share
  contestant: Contestant
  round: number
}

export interface Measured extends Cell {
  seconds: number
  /** Size of the pictures as sent. */
  bytes: number
  /** The longest task on the page's main thread. Unit: milliseconds. */
  longestTaskMs: number
}

export function nameOf({ engine, subject, megabits, share, contestant, round }: Cell): string {
  return `${engine}, ${subject}, ${megabits} Mbit/s, ${share} core, ${contestant}, ${round}`
}

export function cellsToMeasure(): Cell[] {
  const shares = Object.keys(SHARES) as Share[]
  return ENGINES.flatMap((engine) =>
    shares.flatMap((share) => {
      const of = (contestant: Contestant, subject: Name, megabits: number, round = 1): Cell => ({
        engine,
        subject,
        megabits,
        share,
        contestant,
        round,
      })
      const rounds = Array.from({ length: ROUNDS }, (_, round) => round + 1)
      // Chromium only: the peers' page posts to another origin, and its Content-Security-Policy cannot be bypassed in Firefox.
      const peers: Contestant[] = engine === 'chromium' ? ['compressorjs', 'Squoosh'] : []
      const others: Contestant[] = ['best', ...peers]
      // At 1 Mbit/s, bandwidth dominates the time for 20 photographs, so one browser is enough.
      const bandwidths = engine === 'chromium' && share === 'whole' ? MEGABITS : [USUAL, FASTEST]
      return [
        ...rounds.flatMap((round) =>
          PHOTOGRAPHS.flatMap((subject) =>
            MEGABITS.map((megabits) => of('pinhole', subject, megabits, round)),
          ),
        ),
        ...PHOTOGRAPHS.flatMap((subject) => others.map((other) => of(other, subject, FASTEST))),
        ...([SCREENSHOT, DRAWING] as const).flatMap((subject) => [
          of('pinhole', subject, USUAL),
          // Not on a quarter core: there, the peers take a minute to compress the PNG.
          ...(share === 'whole' ? peers.map((peer) => of(peer, subject, FASTEST)) : []),
        ]),
        ...bandwidths.map((megabits) => of('pinhole', TWENTY, megabits)),
      ]
    }),
  )
}
