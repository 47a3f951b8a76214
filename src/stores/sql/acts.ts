/** The record of the operator's acts. */
import type { ActedBy, ActKind } from '../ledger.ts'
import type { Statement } from './database.ts'
import { sql } from './statement.ts'

export interface NewAct {
  act: ActKind
  subject: string
  reason: string
  at: Date
  by?: ActedBy | undefined
}

/** Makes the statement that records an act. */
export type RecordAct = (act: NewAct) => Statement

export function actRecorder(): RecordAct {
  const tick = microseconds()
  return ({ act, subject, reason, at, by }) =>
    sql`insert into acts (number, at_ms, recorded_us, act, subject, reason, who, rule)
      values (${crypto.randomUUID()}, ${at.getTime()}, ${tick()}, ${act}, ${subject}, ${reason},
        ${by?.who ?? ''}, ${by?.rule ?? ''})`
}

/** A clock that never gives the same time twice. Unit: microseconds since the epoch. */
function microseconds(): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000))
    return last
  }
}
