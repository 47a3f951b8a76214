/** The way that a picture's edits went, for undo and redo. */
import type { Edits } from './edits.ts'

export interface Steps {
  readonly now: Edits
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** What is under way, such as a box that is still being drawn: no step yet. */
  draft(edits: Edits): void
  /** What is under way becomes a step. */
  commit(): void
  /** What is under way is forgotten. */
  abort(): void
  undo(): void
  redo(): void
}

export function createSteps(first: Edits): Steps {
  const earlier: Edits[] = []
  let later: Edits[] = []
  let settled = first
  let now = first

  const steps: Steps = {
    get now() {
      return now
    },
    get canUndo() {
      return earlier.length > 0 || now !== settled
    },
    get canRedo() {
      return later.length > 0
    },
    draft(edits) {
      now = edits
    },
    commit() {
      if (now === settled) return
      earlier.push(settled)
      later = []
      settled = now
    },
    abort() {
      now = settled
    },
    undo() {
      steps.commit()
      const before = earlier.pop()
      if (!before) return
      later.push(settled)
      now = settled = before
    },
    redo() {
      const next = later.pop()
      if (!next) return
      earlier.push(settled)
      now = settled = next
    },
  }
  return steps
}
