/** The viewer and the result page: copy buttons, and a delete button for whoever uploaded the picture from here. */

import { openHistory } from './history/history.ts'
import { enliveCopyFields } from './page/clipboard.ts'
import { say } from './page/status.ts'

enliveCopyFields()

const picture = document.getElementById('picture') as HTMLImageElement | null
if (picture) {
  // Attributes, not the natural size: they are there before the bytes.
  const side = (name: string) => Number(picture.getAttribute(name))
  picture.style.setProperty('--shape', `${side('width') / side('height')}`)
  picture.classList.add('measured')
}

const owner = document.getElementById('owner')
if (owner) {
  const { image = '', failed = '', offline = '' } = owner.dataset
  const history = await openHistory()
  const remembered = await history.get(image)
  if (remembered) enlive(owner)

  function enlive(owner: HTMLElement): void {
    const [ask, confirm, keep] = owner.querySelectorAll('button') as Iterable<HTMLButtonElement> as [
      HTMLButtonElement,
      HTMLButtonElement,
      HTMLButtonElement,
    ]
    const confirming = (on: boolean) => {
      ask.hidden = on
      confirm.hidden = keep.hidden = !on
    }
    owner.hidden = false
    ask.addEventListener('click', () => {
      confirming(true)
      keep.focus()
    })
    keep.addEventListener('click', () => {
      confirming(false)
      ask.focus()
    })
    confirm.addEventListener('click', async () => {
      confirm.disabled = true
      try {
        const { deletePicture } = await import('./history/delete-picture.ts')
        await deletePicture(remembered!, history)
      } catch {
        confirm.disabled = false
        say(failed.replace('{reason}', offline))
        return
      }
      const deleted = document.getElementById('deleted') as HTMLTemplateElement
      document.querySelector('main')!.replaceChildren(deleted.content.cloneNode(true))
      document.body.className = 'note'
      document.querySelector<HTMLElement>('main h1')!.focus()
    })
  }
}
