/** What a picture shows, in the person's own words: for those who can't see it. Kept on this device. */
import '../../style/describe.css'
import { MOST_DESCRIPTION } from '../gallery/link.ts'
import type { History, Remembered } from '../history/history.ts'
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'

/** Asks for it, and keeps it with the picture. */
export function describe(picture: Remembered, history: History): Promise<void> {
  const dialog = document.createElement('dialog')
  dialog.className = 'describe'
  const form = document.createElement('form')
  form.method = 'dialog'
  const label = document.createElement('label')
  label.htmlFor = 'describe-text'
  label.textContent = words.describe.title
  const field = document.createElement('input')
  Object.assign(field, {
    id: label.htmlFor,
    type: 'text',
    maxLength: MOST_DESCRIPTION,
    value: picture.alt ?? '',
  })
  field.setAttribute('aria-describedby', 'describe-hint')
  const hint = document.createElement('p')
  hint.id = 'describe-hint'
  hint.className = 'soft'
  hint.textContent = words.describe.hint
  const actions = document.createElement('div')
  actions.className = 'actions'
  for (const [value, text, style] of [
    ['save', words.describe.save, ''],
    ['', words.describe.cancel, 'quiet'],
  ] as const) {
    const button = document.createElement('button')
    button.className = `button ${style}`
    button.value = value
    button.textContent = text
    actions.append(button)
  }
  form.append(label, field, hint, actions)
  dialog.append(form)
  dialog.ariaLabel = words.describe.title
  document.body.append(dialog)
  const opener = document.activeElement as HTMLElement | null
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.onclose = async () => {
      dialog.remove()
      opener?.focus()
      if (dialog.returnValue === 'save') {
        picture.alt = field.value.trim() || undefined
        if (await history.get(picture.id)) await history.put([picture]).catch(() => {})
        say(words.describe.saved)
      }
      resolve()
    }
  })
}
