/** The card for a gallery link. */
import { hashOf } from '../gallery/link.ts'
import type { HistoryEntry } from '../history/history.ts'
import { facts, inWords, words } from '../upload/facts.ts'
import { SHARE } from './actions.ts'
import { createCard } from './card.ts'
import { showQr } from './qr.ts'

/** Capacity of the largest QR code at error correction level M, in byte mode (ISO/IEC 18004, table 7). Unit: bytes. */
const MAX_QR_LENGTH = 2331

let close = () => {}

/** Shows the card on top, replacing any earlier gallery card, and copies its link. */
export async function showGallery(pictures: HistoryEntry[]): Promise<void> {
  close()
  const card = createCard(words.gallery)
  card.element.classList.add('card-gallery')
  document.getElementById('uploads')!.prepend(card.element)
  const thumbnail = pictures.find((picture) => picture.thumbnail)?.thumbnail
  if (thumbnail) card.picture(thumbnail)
  let linked = pictures

  function show(): void {
    const link = `${facts.baseUrl}/g${hashOf(linked)}`
    card.show({
      state: 'done',
      status: inWords.count(words.galleryOf, linked.length),
      codes: { page: link, direct: link, markdown: link, bbcode: link, html: link },
      actions: ['open', ...SHARE, ...(link.length > MAX_QR_LENGTH ? [] : (['qr'] as const)), 'dismiss'],
    })
    card.onAction = (action) => {
      if (action === 'share') navigator.share({ url: link }).catch(() => {})
      if (action === 'qr') showQr(link)
      if (action === 'dismiss') close()
    }
  }

  function onDeleted(event: Event): void {
    const { detail } = event as CustomEvent<string>
    if (!linked.some(({ id }) => id === detail)) return
    linked = linked.filter(({ id }) => id !== detail)
    if (linked.length > 1) show()
    else close()
  }

  addEventListener('picture-deleted', onDeleted)
  close = () => {
    removeEventListener('picture-deleted', onDeleted)
    const hadFocus = card.element.contains(document.activeElement)
    card.remove()
    if (hadFocus) document.getElementById('one-link')?.focus()
  }
  show()
  await card.copy(inWords.count(words.galleryCopied, linked.length))
}
