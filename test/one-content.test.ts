/** An ID never serves two different contents, on a folder and SQLite. */
import { test } from 'node:test'
import { extent } from './support/extent.ts'
import { oneContent } from './support/one-content.ts'

test('an ID never serves two different contents', () => oneContent(extent(60, 12), async () => ({})))
