/** Files that are refused as damaged, a case each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { sourceOf } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'

export function refuseAll(files: Record<string, Uint8Array>): void {
  for (const [name, bytes] of Object.entries(files)) {
    test(name, () =>
      assert.rejects(
        inspect(sourceOf(bytes)),
        (error) => error instanceof Refusal && error.code === 'damaged-image',
      ),
    )
  }
}
