import { errors, frame, gallery, home, pass, remove, result, viewer } from './pages.ts'
import { report, transparency } from './report.ts'
import { terms } from './terms.ts'
import { editor, live, upload } from './upload.ts'

export const english = {
  lang: 'en',
  dir: 'ltr' as 'ltr' | 'rtl',
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
