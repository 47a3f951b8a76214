/** Turns a card into that of a picture that is on the service: links, sharing, deletion. */
import type { Sent } from '../../../client/types.ts'
import { previewNote } from '../../preview-limits.ts'
import type { History, Remembered } from '../history/history.ts'
import { say } from '../page/status.ts'
import { facts, words } from '../upload/facts.ts'
import type { Item } from '../upload/queue.ts'
import { act, deleteAndSay, staysUntil } from './actions.ts'
import { type Action, type Card, SHARE } from './card.ts'
import { codesOf } from './picture.ts'

export interface DoneCardOptions {
  history: History
  /** What is said of it under its name. */
  status: string
  note?: string | undefined
  /** Another picture is to be made of it. */
  onEdit(): void
  /** It is gone from the service. */
  onDeleted(): void
}

export function showDone(card: Card, picture: Remembered, options: DoneCardOptions): void {
  const { history, status, note, onEdit, onDeleted } = options
  const actions: Action[] = ['open', ...SHARE, 'edit', 'delete', 'more']
  const settled = (text = note) =>
    card.show({ state: 'done', status, note: text, codes: codesOf(picture), actions })

  card.onAction = async (action, control) => {
    if (action === 'share') await act('share', picture, history)
    if (action === 'edit') onEdit()
    if (action === 'more') {
      const menu = await loadMenu()
      if (!menu) return say(words.unreachable)
      menu.openMenu(control, {
        link: codesOf(picture).page,
        actions: ['qr', 'describe', 'delete-link'],
        onAction: (chosen) => void act(chosen, picture, history).then(() => settled()),
      })
    }
    if (action === 'delete') {
      card.show({
        state: 'confirming',
        status,
        note,
        codes: codesOf(picture),
        actions: ['confirm-delete', 'keep'],
      })
    }
    if (action === 'keep') settled()
    if (action === 'confirm-delete') {
      card.show({ state: 'deleting', status: words.deleting, note, actions: [] })
      const problem = await deleteAndSay(picture, history)
      if (problem === null) onDeleted()
      else settled(problem)
    }
  }
  settled()
  // It is there when it is asked for.
  void loadMenu()
}

/** The entry of the history for an uploaded picture. */
export function pictureOf(
  { file, compressed }: Item,
  { id, key, link, expires }: Sent,
  { name, at }: { name: string; at: number },
): Remembered {
  const { type, bytesOut, width, height } = compressed!
  const time = new Date(at).toISOString()
  return { id, key, link, name, type, bytesIn: file.size, bytesOut, width, height, at: time, expires }
}

/** What else has to be said of a picture that is uploaded. `isEdition`: it was made of one that stays online. */
export function notesOn(
  item: Item,
  picture: Remembered,
  { isEdition, isRemembered }: { isEdition: boolean | undefined; isRemembered: boolean },
): string {
  const until = staysUntil(picture)
  const notes = [until && `${until}.`, isEdition && words.firstStays, noteOn(item, isRemembered)]
  return notes.filter(Boolean).join(' ')
}

function noteOn({ mode, compressed }: Item, remembered: boolean): string | undefined {
  if (!remembered) return words.notRemembered
  const sentPlace = compressed?.hasLocation && mode === 'original' && compressed.action === 'unchanged'
  if (sentPlace && facts.stripsMetadata && compressed.type !== 'image/gif') return words.placeRemoved
  if (compressed?.losesHdr) return words.hdrLeftOut
  const isShownByPreview = compressed?.preview !== undefined
  return previewNote(facts.previews, isShownByPreview ? 0 : (compressed?.bytesOut ?? 0)) ?? undefined
}

const loadMenu = () => import('./menu.ts').catch(() => null)
