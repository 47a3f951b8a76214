/** No id ever shows two contents, whatever is done: on a folder and SQLite. */
import { test } from 'node:test'
import { extent } from './support/extent.ts'
import { oneContent } from './support/one-content.ts'

test('no id ever shows two contents, whatever is done', () => oneContent(extent(60, 12), async () => ({})))
