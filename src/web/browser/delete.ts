/** The page that asks before it deletes: its button sends the DELETE. */
import { DELETE_PATH, type Problem } from '../../protocol.ts'
import { fill } from '../messages/wording.ts'

const form = document.getElementById('delete') as HTMLFormElement
const { working = '', failed = '', offline = '' } = form.dataset
/** What went wrong stays until the next try. */
const say = (text: string) => {
  document.getElementById('status')!.textContent = text
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')!
  button.disabled = true
  say(working)
  const key = (form.elements.namedItem('key') as HTMLInputElement).value
  try {
    const answer = await fetch(`${DELETE_PATH}?key=${encodeURIComponent(key)}`, { method: 'DELETE' })
    if (!answer.ok) throw new Error(((await answer.json()) as Problem).detail)
  } catch (error) {
    button.disabled = false
    say(fill(failed, { reason: error instanceof TypeError ? offline : (error as Error).message }))
    return
  }
  say('')
  document.getElementById('asked')!.hidden = true
  const deleted = document.getElementById('deleted')!
  deleted.hidden = false
  deleted.querySelector('h1')!.focus()
  // This browser may have kept the picture: asking anew makes it forget.
  const picture = document.querySelector<HTMLImageElement>('img.keepsake')
  if (picture) await fetch(picture.src, { cache: 'reload' }).catch(() => {})
})
