/** List row of a picture from an earlier visit. */

import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { deleteAndSay, runAction, SHARE, staysUntil } from '../card/actions.ts'
import { codesOf } from '../card/codes.ts'
import { openMenu } from '../card/menu.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { locale, words } from '../upload/facts.ts'
import type { History, HistoryEntry } from './history.ts'

export interface RowOptions {
  history: History
  format(): keyof EmbedCodes
  onSelect(): void
  /** The uploader wants to make an edited copy. */
  onEdit(): void
  onDeleted(): void
}

/** The time of day for today, otherwise the date. */
function formatWhen(at: Date): string {
  const isToday = at.toDateString() === new Date().toDateString()
  return at.toLocaleString(locale, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' })
}

export type Row = ReturnType<typeof createRow>

export function createRow(picture: HistoryEntry, options: RowOptions) {
  const { history, format, onSelect, onEdit, onDeleted } = options
  const template = document.getElementById('row') as HTMLTemplateElement
  const element = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement
  const find = <E extends HTMLElement>(selector: string) => element.querySelector<E>(selector)!
  const control = (action: string) => find<HTMLButtonElement>(`[data-action="${action}"]`)
  const [copy, more] = [control('copy'), control('more')]
  const [confirm, keep] = [control('confirm-delete'), control('keep')]
  const open = find<HTMLAnchorElement>('.row-open')
  const image = find<HTMLImageElement>('img')
  const box = find<HTMLInputElement>('input')
  const state = find('.card-state')
  const name = picture.name || words.picture
  const when = formatWhen(new Date(picture.at))

  element.tabIndex = -1
  find('.card-name').textContent = name
  state.textContent = [when, staysUntil(picture)].filter(Boolean).join(' · ')
  box.setAttribute('aria-label', name)
  open.href = codesOf(picture).page
  open.ariaLabel += `: ${name}`
  for (const button of [copy, more, confirm, keep])
    button.setAttribute('aria-label', `${button.textContent}: ${name}`)
  function showThumbnail(): void {
    if (!picture.thumbnail || image.src) return
    image.src = URL.createObjectURL(picture.thumbnail)
    image.hidden = false
  }
  showThumbnail()

  function setAsking(on: boolean): void {
    copy.hidden = more.hidden = on
    confirm.hidden = keep.hidden = !on
    element.classList.toggle('row-asking', on)
  }
  setAsking(false)

  box.addEventListener('change', onSelect)
  copy.addEventListener('click', () => void copyAndSay(codesOf(picture)[format()], { button: copy }))
  more.addEventListener('click', () =>
    openMenu(more, {
      link: codesOf(picture).page,
      actions: ['open', ...SHARE, 'qr', 'edit', 'describe', 'delete-link', 'delete'],
      onAction(action) {
        if (action === 'edit') return onEdit()
        if (action !== 'delete') return void runAction(action, picture, history)
        setAsking(true)
        keep.focus()
      },
    }),
  )
  keep.addEventListener('click', () => {
    setAsking(false)
    more.focus()
  })
  element.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && !keep.hidden) keep.click()
  })
  confirm.addEventListener('click', async () => {
    element.focus()
    confirm.hidden = keep.hidden = true
    element.classList.remove('row-asking')
    state.textContent = words.deleting
    const problem = await deleteAndSay(picture, history)
    if (problem === null) return onDeleted()
    state.textContent = problem
    setAsking(false)
    more.focus()
  })

  return {
    element,
    picture,
    get picked(): boolean {
      return box.checked
    },
    set picked(on: boolean) {
      box.checked = on
    },
    /** Applies changes made by another tab. */
    update(newer: HistoryEntry): void {
      Object.assign(picture, newer)
      showThumbnail()
    },
    remove(): void {
      if (image.src) URL.revokeObjectURL(image.src)
      element.remove()
    },
  }
}
