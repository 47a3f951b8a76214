/** A card of a picture that is on the service: links, sharing, deletion. */
import { DELETE_PATH, EXTENSIONS } from '../../../protocol.ts'
import { type EmbedCodes, embedCodes } from '../../pages/embed-codes.ts'
import type { History, Remembered } from '../history/history.ts'
import { copyText } from '../page/clipboard.ts'
import { facts, inWords, words } from '../page/facts.ts'
import { say } from '../page/status.ts'
import type { Action, Card } from './card.ts'

export interface PictureCardOptions {
  history: History
  /** What is said of it under its name. */
  status: string
  note?: string | undefined
  /** It is gone from the service. */
  onDeleted(): void
}

export function codesOf(picture: Remembered): EmbedCodes {
  return embedCodes(facts.baseUrl, picture)
}

/** Turns `card` into the card of `picture`. */
export function showPicture(card: Card, picture: Remembered, options: PictureCardOptions): void {
  const { history, status, note, onDeleted } = options
  const codes = codesOf(picture)
  const actions: Action[] = ['open', 'qr', 'delete-link', 'delete']
  if ('share' in navigator) actions.splice(1, 0, 'share')
  const settled = (text = note) => card.show({ state: 'done', status, note: text, codes, actions })

  card.onAction = async (action) => {
    if (action === 'share') await navigator.share({ url: codes.page }).catch(() => {})
    if (action === 'qr') await import('./qr.ts').then(({ showQr }) => showQr(codes.page))
    if (action === 'delete-link') {
      await copyText(`${facts.baseUrl}${DELETE_PATH}?key=${picture.key}`)
      say(facts.copied)
    }
    if (action === 'delete') {
      card.show({ state: 'confirming', status, note, codes, actions: ['confirm-delete', 'keep'] })
    }
    if (action === 'keep') settled()
    if (action === 'confirm-delete') {
      card.show({ state: 'deleting', status: words.deleting, actions: [] })
      try {
        const { deletePicture } = await import('../history/delete-picture.ts')
        await deletePicture(picture, history)
      } catch (error) {
        const { reasonOf } = await import('../upload/uploading.ts')
        const problem = inWords.fill(words.deleteFailed, { reason: await reasonOf(error) })
        settled(problem)
        say(problem)
        return
      }
      say(inWords.fill(words.deletedNow, { name: picture.name }))
      onDeleted()
    }
  }
  settled()
}

/** "PNG 2 MB → WebP 400 kB, identical pixels" needs the type's name; a file's extension, in capitals, is one. */
export function typeName(type: Remembered['type']): string {
  return type === 'image/jpeg' ? 'JPEG' : type === 'image/webp' ? 'WebP' : EXTENSIONS[type].toUpperCase()
}
