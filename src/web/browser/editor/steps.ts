/** The way that a picture's edits went, for undo and redo. */
import type { Edits } from './edits.ts'

export function createSteps(first: Edits) {
  const earlier: Edits[] = []
  let later: Edits[] = []
  let settled = first
  let now = first

  const steps = {
    get now(): Edits {
      return now
    },
    get canUndo(): boolean {
      return earlier.length > 0 || now !== settled
    },
    get canRedo(): boolean {
      return later.length > 0
    },
    /** What is under way, such as a box that is still being drawn: no step yet. */
    draft(edits: Edits): void {
      now = edits
    },
    /** What is under way becomes a step. */
    commit(): void {
      if (now === settled) return
      earlier.push(settled)
      later = []
      settled = now
    },
    /** What is under way is forgotten. */
    abort(): void {
      now = settled
    },
    undo(): void {
      steps.commit()
      const before = earlier.pop()
      if (!before) return
      later.push(settled)
      now = settled = before
    },
    redo(): void {
      const next = later.pop()
      if (!next) return
      earlier.push(settled)
      now = settled = next
    },
  }
  return steps
}
