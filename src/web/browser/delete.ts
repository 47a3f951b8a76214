/** The deletion page: its button sends the DELETE request. */
import { ID_LENGTH } from '../../protocol.ts'
import { fill } from '../messages/wording.ts'
import type { DeletionFacts } from '../pages/page-facts.ts'
import { deletionProblem, evict, removeByKey } from './history/delete-picture.ts'
import { pageFacts } from './page/facts.ts'

const { remove: words } = pageFacts as DeletionFacts
const form = document.getElementById('delete') as HTMLFormElement
const button = form.querySelector('button')!
/** An error message stays until the next attempt. */
const say = (text: string) => {
  document.getElementById('status')!.textContent = text
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  if (button.ariaDisabled) return
  // Not `disabled`, which would lose focus.
  button.ariaDisabled = 'true'
  say(words.working)
  const key = (form.elements.namedItem('key') as HTMLInputElement).value
  try {
    const isDeleted = await removeByKey(key)
    showResult(isDeleted ? 'deleted' : 'gone')
  } catch (error) {
    button.ariaDisabled = null
    return say(fill(words.failed, { reason: deletionProblem(error, words) }))
  }
  await evict(key.slice(0, ID_LENGTH))
})

function showResult(id: 'deleted' | 'gone'): void {
  say('')
  document.getElementById('asked')!.hidden = true
  const note = document.getElementById(id)!
  note.hidden = false
  const heading = note.querySelector('h1')!
  heading.focus()
  document.title = `${heading.textContent} · Pinhole`
}
