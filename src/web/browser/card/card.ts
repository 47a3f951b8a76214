/** One picture's card: what it shows, and what can be done with it. */
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { copyText } from '../page/clipboard.ts'
import { facts, words } from '../page/facts.ts'
import { say } from '../page/status.ts'

export type Action =
  | 'open'
  | 'share'
  | 'qr'
  | 'delete-link'
  | 'delete'
  | 'confirm-delete'
  | 'keep'
  | 'without-place'
  | 'with-place'
  | 'retry'
  | 'cancel'
  | 'dismiss'

export interface CardView {
  /** For the stylesheet. */
  state: string
  status: string
  note?: string | undefined
  /** Of the way from the device to the server. */
  percent?: number | undefined
  codes?: EmbedCodes | undefined
  actions: Action[]
}

export interface Card {
  readonly element: HTMLElement
  show(view: CardView): void
  picture(blob: Blob): void
  /** Under which of its codes the link is shown and copied. */
  format(format: keyof EmbedCodes): void
  onAction?: (action: Action) => void
  remove(): void
}

/** How long a button says that it has copied. Unit: milliseconds. */
const SAYS_COPIED_MS = 2000

export function createCard(name: string): Card {
  const template = document.getElementById('card') as HTMLTemplateElement
  const element = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement
  const find = <E extends HTMLElement>(selector: string) => element.querySelector<E>(selector)!
  const [image, state, note] = [find<HTMLImageElement>('img'), find('.card-state'), find('.card-note')]
  const [progress, link] = [find<HTMLProgressElement>('progress'), find('.card-link')]
  const field = find<HTMLInputElement>('.card-link input')
  const copy = find<HTMLButtonElement>('[data-action="copy"]')
  const controls = [...element.querySelectorAll<HTMLElement>('.card-actions [data-action]')]
  let codes: EmbedCodes | undefined
  let format: keyof EmbedCodes = 'page'

  find('.card-name').textContent = name
  for (const control of [copy, ...controls])
    control.setAttribute('aria-label', `${control.textContent}: ${name}`)
  progress.setAttribute('aria-label', name)
  field.setAttribute('aria-label', name)
  field.addEventListener('focus', () => field.select())
  copy.addEventListener('click', async () => {
    const label = copy.textContent
    await copyText(field.value)
    say(facts.copied)
    if (label === facts.copied) return
    copy.textContent = facts.copied
    setTimeout(() => {
      copy.textContent = label
    }, SAYS_COPIED_MS)
  })
  for (const control of controls) {
    control.addEventListener('click', () => card.onAction?.(control.dataset.action as Action))
  }

  const card: Card = {
    element,
    show(view) {
      const hadFocus = element.contains(document.activeElement)
      element.dataset.state = view.state
      state.textContent = view.status
      note.textContent = view.note ?? ''
      note.hidden = !view.note
      progress.hidden = view.percent === undefined
      progress.value = view.percent ?? 0
      element.style.setProperty('--sent', `${view.percent ?? 0}`)
      codes = view.codes
      link.hidden = !codes
      if (codes) {
        field.value = codes[format]
        find<HTMLAnchorElement>('a[data-action="open"]').href = codes.page
      }
      for (const control of controls)
        control.hidden = !view.actions.includes(control.dataset.action as Action)
      // What had the focus may be hidden now: its successor takes over, so that the keyboard keeps its place.
      const focused = document.activeElement as HTMLElement
      if (hadFocus && !(element.contains(focused) && focused.offsetParent)) {
        controls.find((control) => !control.hidden)?.focus()
      }
    },
    picture(blob) {
      image.src = URL.createObjectURL(blob)
      image.hidden = false
    },
    format(chosen) {
      format = chosen
      if (codes) field.value = codes[format]
    },
    remove() {
      if (image.src) URL.revokeObjectURL(image.src)
      element.remove()
    },
  }
  card.show({ state: 'queued', status: words.queued, actions: [] })
  return card
}
