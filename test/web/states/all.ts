/** Every state of the pages. */
import { historyStates } from './history.ts'
import { homeStates } from './home.ts'
import { noteStates } from './notes.ts'
import { pictureStates } from './pictures.ts'
import type { PageState } from './state.ts'

export const STATES: PageState[] = [...homeStates, ...historyStates, ...pictureStates, ...noteStates]
