import type { NewDecision } from '../../../src/stores/decisions.ts'

/** A sample decision to remove images, made at 1000 and due at 2000. */
export const decision = (overrides: Partial<NewDecision> = {}): NewDecision => ({
  batch: 'b',
  act: 'remove',
  block: false,
  reason: 'x',
  who: 'ann',
  rule: '',
  at: 1000,
  dueAt: 2000,
  ...overrides,
})
