/** Contract tests of `src/stores/ledger.ts`, run by every adapter. They cover what the service relies on. */
import { describe } from 'node:test'
import { alertCases } from './ledger/active-alerts.ts'
import { capacityCases } from './ledger/capacity.ts'
import { decisionsCases } from './ledger/decisions.ts'
import { durabilityCases } from './ledger/durability.ts'
import { expiriesCases } from './ledger/expiries.ts'
import { floodsCases } from './ledger/floods.ts'
import { harnessOf, type OpenLedger } from './ledger/harness.ts'
import { holdsCases } from './ledger/holds.ts'
import { instanceCases } from './ledger/instance.ts'
import { moderationCases } from './ledger/moderation.ts'
import { movesCases } from './ledger/moves.ts'
import { noticesCases } from './ledger/notices.ts'
import { outagesCases } from './ledger/outages.ts'
import { outboxesCases } from './ledger/outboxes.ts'
import { privateCases } from './ledger/private.ts'
import { purgesCases } from './ledger/purges.ts'
import { quotaCases } from './ledger/quota.ts'
import { reportsCases } from './ledger/reports.ts'
import { saltsCases } from './ledger/salts.ts'
import { scansCases } from './ledger/scans.ts'
import { strangeValuesCases } from './ledger/strange-values.ts'
import { tombstonesCases } from './ledger/tombstones.ts'

export type { LedgerUnderTest, OpenLedger } from './ledger/harness.ts'

/** Registers all cases for one adapter. Each case opens its own, initially empty ledger. */
export function ledgerContract(name: string, open: OpenLedger): void {
  const harness = harnessOf(open)
  describe(`ledger: ${name}`, () => {
    describe('upload quota', () => quotaCases(harness))
    describe('salts', () => saltsCases(harness))
    describe('private data', () => privateCases(harness))
    describe('moderation', () => moderationCases(harness))
    describe('moves and settings', () => movesCases(harness))
    describe('holds', () => holdsCases(harness))
    describe('capacity', () => capacityCases(harness))
    describe('outboxes', () => outboxesCases(harness))
    describe('purges', () => purgesCases(harness))
    describe('expiries', () => expiriesCases(harness))
    describe('scans', () => scansCases(harness))
    describe('instance', () => instanceCases(harness))
    describe('reports', () => reportsCases(harness))
    describe('report floods', () => floodsCases(harness))
    describe('notices', () => noticesCases(harness))
    describe('decisions', () => decisionsCases(harness))
    describe('active alerts', () => alertCases(harness))
    describe('tombstones', () => tombstonesCases(harness))
    describe('durability', () => durabilityCases(harness))
    describe('outages', () => outagesCases(harness))
    describe('strange values', () => strangeValuesCases(harness))
  })
}
