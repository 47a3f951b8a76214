/** What a picture shows, in the person's own words: for those who can't see it. Kept on this device. */
import '../../style/describe.css'
import { MAX_DESCRIPTION } from '../gallery/link.ts'
import type { History, Remembered } from '../history/history.ts'
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'

/** Asks for it, and keeps it with the picture. */
export function describe(picture: Remembered, history: History): Promise<void> {
  const dialog = document.getElementById('describe') as HTMLDialogElement
  const field = dialog.querySelector('input')!
  field.maxLength = MAX_DESCRIPTION
  field.value = picture.alt ?? ''
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.onclose = async () => {
      if (dialog.returnValue === 'save') {
        picture.alt = field.value.trim() || undefined
        if (await history.get(picture.id)) await history.put([picture]).catch(() => {})
        say(words.described)
      }
      resolve()
    }
  })
}
