import { liveCopyButtons } from './copy.ts'
import { say } from './status.ts'

liveCopyButtons(document, say)
