/** Every sentence that people read: one folder a language, one file a part of the pages. `{name}` stands for a value. */
import type { english } from './english/english.ts'

export type Messages = typeof english
