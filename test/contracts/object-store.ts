/** Contract of `src/stores/object-store.ts`: everything the service relies on. Every adapter runs it. */
import { describe } from 'node:test'
import { extent } from '../support/extent.ts'
import { commitCases } from './object-store/commits.ts'
import { damageCases } from './object-store/damage.ts'
import { draftCases } from './object-store/drafts.ts'
import type { ContractOptions, OpenStore } from './object-store/harness.ts'
import { harnessOf } from './object-store/harness.ts'
import { holdingCases } from './object-store/holding.ts'
import { listingCases } from './object-store/listing.ts'
import { memoryCases } from './object-store/memory.ts'
import { modelCases } from './object-store/model.ts'
import { previewCases } from './object-store/previews.ts'
import { rangeCases } from './object-store/ranges.ts'
import { readingCases } from './object-store/reading.ts'
import { removalCases } from './object-store/removal.ts'
import { replacingCases } from './object-store/replacing.ts'
import { retiringCases } from './object-store/retiring.ts'
import { segmentCases } from './object-store/segments.ts'
import { strangeIdCases } from './object-store/strange-ids.ts'

export type { ContractOptions, OpenedStore, OpenStore } from './object-store/harness.ts'

/** Registers every case for one adapter. Each case opens a fresh, empty store. */
export function objectStoreContract(name: string, open: OpenStore, options: ContractOptions = {}): void {
  const harness = harnessOf(open)
  describe(`object store: ${name}`, () => {
    describe('drafts', () => draftCases(harness))
    describe('commits', () => commitCases(harness))
    describe('segments', () => segmentCases(harness))
    describe('reading', () => readingCases(harness))
    describe('ranges', () => rangeCases(harness))
    describe('previews', () => previewCases(harness))
    describe('removal', () => removalCases(harness))
    describe('holding', () => holdingCases(harness))
    describe('retiring', () => retiringCases(harness))
    describe('listing', () => listingCases(harness))
    describe('strange ids', () => strangeIdCases(harness))
    describe('damage', () => damageCases(harness))
    describe('replacing', () => replacingCases(harness))
    describe('memory', () => memoryCases(harness, options))
    describe('model', () => modelCases(harness, options.modelRuns ?? extent(20, 5)))
  })
}
