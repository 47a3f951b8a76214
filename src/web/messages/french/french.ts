import type { Messages } from '../messages.ts'
import { errors, home, remove, result, viewer } from './pages.ts'
import { terms } from './terms.ts'
import { live, upload } from './upload.ts'

export const french: Messages = {
  lang: 'fr',
  dir: 'ltr',
  back: 'Retour à Pinhole',
  tools: 'L’utiliser ailleurs',
  home,
  viewer,
  remove,
  result,
  errors,
  upload,
  live,
  terms,
}
