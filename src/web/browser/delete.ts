/** The page that asks before it deletes: its button sends the DELETE. */
import { ID_LENGTH } from '../../protocol.ts'
import { fill } from '../messages/wording.ts'
import type { DeletionFacts } from '../pages/page-facts.ts'
import { pageFacts } from './page/facts.ts'

const { remove: words } = pageFacts as DeletionFacts
const form = document.getElementById('delete') as HTMLFormElement
const button = form.querySelector('button')!
/** What went wrong stays until the next try. */
const say = (text: string) => {
  document.getElementById('status')!.textContent = text
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  if (button.ariaDisabled) return
  // Not `disabled`, which would lose the focus.
  button.ariaDisabled = 'true'
  say(words.working)
  const part = await import('./history/delete-picture.ts').catch(() => null)
  if (!part) return refuse(words.offline)
  const key = (form.elements.namedItem('key') as HTMLInputElement).value
  try {
    const isDeleted = await part.removeByKey(key)
    show(isDeleted ? 'deleted' : 'gone')
  } catch (error) {
    return refuse(part.whyNot(error, words))
  }
  await part.evict(key.slice(0, ID_LENGTH))
})

function refuse(reason: string): void {
  button.ariaDisabled = null
  say(fill(words.failed, { reason }))
}

function show(id: 'deleted' | 'gone'): void {
  say('')
  document.getElementById('asked')!.hidden = true
  const note = document.getElementById(id)!
  note.hidden = false
  const heading = note.querySelector('h1')!
  heading.focus()
  document.title = `${heading.textContent} · Pinhole`
}
