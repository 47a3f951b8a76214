/** Every sentence that people read: one file a language. `{name}` stands for a value. */
import type { english } from './english.ts'

export type Messages = typeof english
