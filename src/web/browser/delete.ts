/** The page that asks before it deletes: its button sends the DELETE. */
import { DELETE_PATH } from '../../protocol.ts'
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
  const answer = await fetch(`${DELETE_PATH}?key=${encodeURIComponent(key)}`, { method: 'DELETE' }).catch(
    () => null,
  )
  if (!answer?.ok && answer?.status !== 404) {
    button.disabled = false
    button.focus()
    say(fill(failed, { reason: offline }))
    return
  }
  say('')
  document.getElementById('asked')!.hidden = true
  const note = document.getElementById(answer.ok ? 'deleted' : 'gone')!
  note.hidden = false
  const heading = note.querySelector('h1')!
  heading.focus()
  document.title = `${heading.textContent} · Pinhole`
  // This browser may have kept the picture: asking anew makes it forget.
  const picture = document.querySelector<HTMLImageElement>('img.keepsake')
  if (picture) await fetch(picture.src, { cache: 'reload' }).catch(() => {})
})
