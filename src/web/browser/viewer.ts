/** The viewer and result pages: copying, sharing, and deletion of pictures uploaded from this browser. */
import { fill } from '../messages/wording.ts'
import type { ViewerFacts } from '../pages/page-facts.ts'
import { openHistory } from './history/history.ts'
import { initCopyFields } from './page/clipboard.ts'
import { confirming } from './page/confirming.ts'
import { pageFacts } from './page/facts.ts'
import { guardQuestions } from './page/questions.ts'
import { say } from './page/status.ts'

const facts = pageFacts as ViewerFacts
const picture = document.getElementById('picture') as HTMLImageElement | null

initCopyFields()
guardQuestions()
if (picture) {
  initSharing()
  initCopyImage(picture)
  // Loading may fail (offline, or the page is closing). The picture works without it.
  const zoom = await import('./viewer/zoom.ts').catch(() => null)
  zoom?.initZoom(picture, facts.words)
  if ('tall' in document.getElementById('stage')!.dataset) {
    const actionBar = await import('./viewer/action-bar.ts').catch(() => null)
    actionBar?.initActionBar()
  }
  await initOwner()
}
// From here on, nothing shifts the layout.
document.documentElement.dataset.live = ''

function initSharing(): void {
  if (!('share' in navigator)) return
  const button = document.getElementById('share-link')!
  button.hidden = false
  button.addEventListener('click', () => {
    navigator.share({ url: location.href }).catch(() => {})
  })
}

function initCopyImage(picture: HTMLImageElement): void {
  if (!('ClipboardItem' in globalThis) || !navigator.clipboard?.write) return
  const button = document.getElementById('copy-image')!
  button.hidden = false
  button.addEventListener('click', async () => {
    const part = await import('./viewer/copy-image.ts').catch(() => null)
    say((await part?.copyImage(picture)) ? facts.words.imageCopied : facts.words.imageNotCopied)
  })
}

async function initOwner(): Promise<void> {
  const owner = document.getElementById('owner')!
  const history = await openHistory()
  const remembered = await history.get(owner.dataset.image ?? '')
  // Now, as an update of the service may remove this page's code.
  const part = remembered && (await import('./history/delete-picture.ts').catch(() => null))
  if (!part) return
  const control = (name: string) => document.getElementById(`owner-${name}`)!
  owner.hidden = false
  confirming({
    ask: control('delete'),
    confirm: control('confirm'),
    keep: control('keep'),
    working: facts.remove.working,
    async run() {
      await part
        .deletePicture(remembered, history)
        .then(showDeleted, (error) =>
          say(fill(facts.remove.failed, { reason: part.deletionProblem(error, facts.remove) })),
        )
    },
  })
}

function showDeleted(): void {
  const deleted = document.getElementById('deleted') as HTMLTemplateElement
  document.querySelector('main')!.replaceChildren(deleted.content.cloneNode(true))
  document.body.className = 'note'
  document.title = `${facts.remove.doneTitle} · Pinhole`
  document.querySelector<HTMLElement>('main h1')!.focus()
}
