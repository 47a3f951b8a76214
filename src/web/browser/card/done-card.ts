/** Turns a card into that of a picture that is on the service: links, sharing, deletion. */
import type { History, Remembered } from '../history/history.ts'
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'
import type { Action, Card } from './card.ts'
import { act, canShare, codesOf, deleteAndSay } from './picture.ts'

export interface DoneCardOptions {
  history: History
  /** What is said of it under its name. */
  status: string
  note?: string | undefined
  /** It is gone from the service. */
  onDeleted(): void
}

export function showDone(card: Card, picture: Remembered, options: DoneCardOptions): void {
  const { history, status, note, onDeleted } = options
  const codes = codesOf(picture)
  const actions: Action[] = canShare() ? ['open', 'share', 'delete', 'more'] : ['open', 'delete', 'more']
  const settled = (text = note) => card.show({ state: 'done', status, note: text, codes, actions })

  card.onAction = async (action, control) => {
    if (action === 'share') await act('share', picture)
    if (action === 'more') {
      const menu = await loadMenu()
      if (!menu) return say(words.unreachable)
      menu.openMenu(control, {
        link: codes.page,
        actions: ['qr', 'delete-link'],
        onAction: (chosen) => void act(chosen, picture),
      })
    }
    if (action === 'delete') {
      card.show({ state: 'confirming', status, note, codes, actions: ['confirm-delete', 'keep'] })
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

const loadMenu = () => import('./menu.ts').catch(() => null)
