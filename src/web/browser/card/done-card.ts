/** Shows an uploaded picture on its card: links, sharing, deletion. */
import type { Sent } from '../../../client/types.ts'
import { previewNote } from '../../preview-limits.ts'
import type { History, HistoryEntry } from '../history/history.ts'
import { say } from '../page/status.ts'
import { facts, words } from '../upload/facts.ts'
import type { Item } from '../upload/queue.ts'
import { deleteAndSay, runAction, SHARE, staysUntil } from './actions.ts'
import type { Action, Card } from './card.ts'
import { codesOf } from './codes.ts'

export interface DoneCardOptions {
  history: History
  /** Line below the name. */
  status: string
  note?: string | undefined
  /** The uploader wants to make an edited copy. */
  onEdit(): void
  /** The picture was deleted from the service. */
  onDeleted(): void
}

export function showDone(card: Card, picture: HistoryEntry, options: DoneCardOptions): void {
  const { history, status, note, onEdit, onDeleted } = options
  const actions: Action[] = ['open', ...SHARE, 'edit', 'delete', 'more']
  const showIdle = (text = note) =>
    card.show({ state: 'done', status, note: text, codes: codesOf(picture), actions })

  function keep(): void {
    showIdle()
    card.element.querySelector<HTMLElement>('[data-action="delete"]')!.focus()
  }

  card.element.onkeydown = ({ key }) => {
    if (key === 'Escape' && card.element.dataset.state === 'confirming') keep()
  }
  card.onAction = async (action, control) => {
    if (action === 'share') await runAction('share', picture, history)
    if (action === 'edit') onEdit()
    if (action === 'more') {
      const menu = await loadMenu()
      if (!menu) return say(words.unreachable)
      menu.openMenu(control, {
        link: codesOf(picture).page,
        actions: ['qr', 'describe', 'delete-link'],
        onAction: (chosen) => void runAction(chosen, picture, history).then(() => showIdle()),
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
    if (action === 'keep') keep()
    if (action === 'confirm-delete') {
      card.show({ state: 'deleting', status: words.deleting, note, actions: [] })
      const problem = await deleteAndSay(picture, history)
      if (problem === null) onDeleted()
      else showIdle(problem)
    }
  }
  showIdle()
  // Preloaded, so that it opens without delay.
  void loadMenu()
}

/** The history entry of an uploaded picture. */
export function entryOf(
  { file, compressed }: Item,
  { id, key, link, expires }: Sent,
  { name, at }: { name: string; at: number },
): HistoryEntry {
  const { type, bytesOut, width, height } = compressed!
  const time = new Date(at).toISOString()
  return { id, key, link, name, type, bytesIn: file.size, bytesOut, width, height, at: time, expires }
}

/** Notes for an uploaded picture. `isEdited`: made from a picture that stays online. */
export function notesFor(
  item: Item,
  picture: HistoryEntry,
  { isEdited, isRemembered }: { isEdited: boolean | undefined; isRemembered: boolean },
): string {
  const until = staysUntil(picture)
  const notes = [until?.replace(/\.?$/, '.'), isEdited && words.firstStays, mainNoteFor(item, isRemembered)]
  return notes.filter(Boolean).join(' ')
}

function mainNoteFor({ mode, compressed }: Item, isRemembered: boolean): string | undefined {
  if (!isRemembered) return words.notRemembered
  const sentPlace = compressed?.hasLocation && mode === 'original' && compressed.action === 'unchanged'
  if (sentPlace && facts.stripsMetadata && compressed.type !== 'image/gif') return words.placeRemoved
  if (compressed?.losesHdr) return words.hdrLeftOut
  const isShownByPreview = compressed?.preview !== undefined
  return previewNote(facts.previews, isShownByPreview ? 0 : (compressed?.bytesOut ?? 0)) ?? undefined
}

const loadMenu = () => import('./menu.ts').catch(() => null)
