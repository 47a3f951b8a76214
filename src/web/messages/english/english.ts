import { errors, home, remove, result, viewer } from './pages.ts'
import { terms } from './terms.ts'
import { live, upload } from './upload.ts'

export const english = {
  lang: 'en',
  dir: 'ltr' as 'ltr' | 'rtl',
  back: 'Back to Pinhole',
  tools: 'Use it elsewhere',
  home,
  viewer,
  remove,
  result,
  errors,
  upload,
  live,
  terms,
}
