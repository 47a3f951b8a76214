/** Which cells are measured. What follows for others from bytes and line alone, is not. */
import { DRAWING, type Name, PHOTOGRAPHS, SCREENSHOT, TWENTY } from './pictures.ts'

export const ENGINES = ['chromium', 'firefox'] as const
/** Rates of the line. */
export const MEGABITS = [1, 10, 50] as const
/** On the fastest line whoever compresses first and sends then is measured: the others take so much longer as their bytes do. */
export const FASTEST = 50
/** On this one, what our page does not choose by the line. */
export const USUAL = 10
export const SHARES = { whole: 1, quarter: 0.25 } as const
/** `best`: our page, told that no picture is waited for. */
export const CONTESTANTS = ['pinhole', 'best', 'as it is', 'compressorjs', 'Squoosh'] as const
/** Rounds of one photograph by our page: the middle one counts. */
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
  /** The pictures as they left. */
  bytes: number
  /** The longest task of the page's own thread. Unit: milliseconds. */
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
      // In Chromium only: their page posts to another origin, and Firefox can't be told to ignore its Content-Security-Policy.
      const peers: Contestant[] = engine === 'chromium' ? ['compressorjs', 'Squoosh'] : []
      const others: Contestant[] = ['best', ...peers]
      // A line of 1 Mbit/s rules over 20 photographs whatever the processor does: one browser is enough.
      const lines = engine === 'chromium' && share === 'whole' ? MEGABITS : [USUAL, FASTEST]
      return [
        ...rounds.flatMap((round) =>
          PHOTOGRAPHS.flatMap((subject) =>
            MEGABITS.map((megabits) => of('pinhole', subject, megabits, round)),
          ),
        ),
        ...PHOTOGRAPHS.flatMap((subject) => others.map((other) => of(other, subject, FASTEST))),
        ...([SCREENSHOT, DRAWING] as const).flatMap((subject) => [
          of('pinhole', subject, USUAL),
          // Not on a quarter core: packing the PNG takes these a minute there.
          ...(share === 'whole' ? peers.map((peer) => of(peer, subject, FASTEST)) : []),
        ]),
        ...lines.map((megabits) => of('pinhole', TWENTY, megabits)),
      ]
    }),
  )
}
