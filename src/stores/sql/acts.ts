/** The record of the operator's acts. */
import type { ActedBy, ActKind } from '../ledger.ts'
import type { Statement } from './database.ts'
import { type Part, part, sql } from './statement.ts'

export interface NewAct {
  act: ActKind
  subject: string
  reason: string
  at: Date
  by?: ActedBy | undefined
}

/** Makes the statement that records an act. */
export type RecordAct = (act: NewAct) => Statement

/** The same, of an act that is recorded only where the condition holds. */
export type RecordActIf = (act: NewAct, isSo: Part) => Statement

export function actRecorder(tick: () => number): { record: RecordAct; recordIf: RecordActIf } {
  const recordIf: RecordActIf = ({ act, subject, reason, at, by }, isSo) =>
    sql`insert into acts (number, at_ms, recorded_us, act, subject, reason, who, rule)
      select ${crypto.randomUUID()}, ${at.getTime()}, ${tick()}, ${act}, ${subject}, ${reason}, ${by?.who ?? ''},
        ${by?.rule ?? ''} where ${isSo}`
  return { recordIf, record: (act) => recordIf(act, part`1 = 1`) }
}

/** A clock that never gives the same time twice. Unit: microseconds since the epoch. */
export function microseconds(): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000))
    return last
  }
}
