import type { Messages } from '../messages.ts'
import { errors, home, remove, result, viewer } from './pages.ts'
import { terms } from './terms.ts'
import { live, upload } from './upload.ts'

export const german: Messages = {
  lang: 'de',
  dir: 'ltr',
  back: 'Zurück zu Pinhole',
  tools: 'Anderswo verwenden',
  home,
  viewer,
  remove,
  result,
  errors,
  upload,
  live,
  terms,
}
