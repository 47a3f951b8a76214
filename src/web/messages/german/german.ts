import type { Messages } from '../messages.ts'
import { errors, frame, gallery, home, pass, remove, result, viewer } from './pages.ts'
import { report, transparency } from './report.ts'
import { terms } from './terms.ts'
import { editor, live, upload } from './upload.ts'

export const german: Messages = {
  lang: 'de',
  dir: 'ltr',
  frame,
  home,
  viewer,
  gallery,
  remove,
  result,
  pass,
  errors,
  upload,
  live,
  editor,
  terms,
  report,
  transparency,
}
