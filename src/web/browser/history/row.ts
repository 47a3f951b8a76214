/** One picture of an earlier visit, in one row. */

import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { act, deleteAndSay, staysUntil } from '../card/actions.ts'
import { SHARE } from '../card/card.ts'
import { openMenu } from '../card/menu.ts'
import { codesOf } from '../card/picture.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { locale, words } from '../upload/facts.ts'
import type { History, Remembered } from './history.ts'

export interface RowOptions {
  history: History
  format(): keyof EmbedCodes
  onPicked(): void
  /** Another picture is to be made of it. */
  onEdit(): void
  onDeleted(): void
}

/** When it was: the time for today, else the day. */
function whenOf(at: Date): string {
  const isToday = at.toDateString() === new Date().toDateString()
  return new Intl.DateTimeFormat(locale, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' }).format(
    at,
  )
}

export type Row = ReturnType<typeof createRow>

export function createRow(picture: Remembered, options: RowOptions) {
  const { history, format, onPicked, onEdit, onDeleted } = options
  const template = document.getElementById('row') as HTMLTemplateElement
  const element = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement
  const find = <E extends HTMLElement>(selector: string) => element.querySelector<E>(selector)!
  const control = (action: string) => find<HTMLButtonElement>(`[data-action="${action}"]`)
  const [copy, more, confirm, keep] = [
    control('copy'),
    control('more'),
    control('confirm-delete'),
    control('keep'),
  ]
  const image = find<HTMLImageElement>('img')
  const box = find<HTMLInputElement>('input')
  const state = find('.card-state')
  const name = picture.name || words.picture
  const when = whenOf(new Date(picture.at))

  element.tabIndex = -1
  find('.card-name').textContent = name
  state.textContent = [when, staysUntil(picture)].filter(Boolean).join(' · ')
  box.setAttribute('aria-label', name)
  for (const button of [copy, more, confirm, keep])
    button.setAttribute('aria-label', `${button.textContent}: ${name}`)
  function illustrate(): void {
    if (!picture.thumbnail || image.src) return
    image.src = URL.createObjectURL(picture.thumbnail)
    image.hidden = false
  }
  illustrate()

  function asking(on: boolean): void {
    copy.hidden = more.hidden = on
    confirm.hidden = keep.hidden = !on
    element.classList.toggle('row-asking', on)
  }
  asking(false)

  box.addEventListener('change', onPicked)
  copy.addEventListener('click', () => void copyAndSay(codesOf(picture)[format()], { button: copy }))
  more.addEventListener('click', () =>
    openMenu(more, {
      link: codesOf(picture).page,
      actions: ['open', ...SHARE, 'qr', 'edit', 'describe', 'delete-link', 'delete'],
      onAction(action) {
        if (action === 'edit') return onEdit()
        if (action !== 'delete') return void act(action, picture, history)
        asking(true)
        keep.focus()
      },
    }),
  )
  keep.addEventListener('click', () => {
    asking(false)
    more.focus()
  })
  confirm.addEventListener('click', async () => {
    element.focus()
    confirm.hidden = keep.hidden = true
    element.classList.remove('row-asking')
    state.textContent = words.deleting
    const problem = await deleteAndSay(picture, history)
    if (problem === null) return onDeleted()
    state.textContent = problem
    asking(false)
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
    /** Another page wrote more of it down. */
    update(later: Remembered): void {
      Object.assign(picture, later)
      illustrate()
    },
    remove(): void {
      if (image.src) URL.revokeObjectURL(image.src)
      element.remove()
    },
  }
}
