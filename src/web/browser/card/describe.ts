/** Alt text that the uploader writes for a picture. Stored on this device only. */
import '../../style/describe.css'
import { MAX_DESCRIPTION } from '../gallery/link.ts'
import type { History, HistoryEntry } from '../history/history.ts'
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'

/** Opens the dialog and saves the text to the history. */
export function describe(picture: HistoryEntry, history: History): Promise<void> {
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
        say((await history.update(picture)) ? words.described : words.notDescribed)
      }
      resolve()
    }
  })
}
