/** The card of one picture: status, preview, link and actions. */
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { copyAndSay } from '../page/clipboard.ts'

export type Action =
  | 'open'
  | 'share'
  | 'edit'
  | 'qr'
  | 'delete'
  | 'more'
  | 'confirm-delete'
  | 'keep'
  | 'without-place'
  | 'with-place'
  | 'skip'
  | 'retry'
  | 'cancel'
  | 'dismiss'

export interface CardView {
  /** `data-state` of the element, for the style sheet. */
  state: string
  status: string
  note?: string | undefined
  /** Progress of the upload, or of the steps before it. */
  percent?: number | undefined
  codes?: EmbedCodes | undefined
  actions: Action[]
}

export type Card = ReturnType<typeof createCard>

export function createCard(name: string) {
  const template = document.getElementById('card') as HTMLTemplateElement
  const element = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement
  const find = <E extends HTMLElement>(selector: string) => element.querySelector<E>(selector)!
  const [image, state, note] = [find<HTMLImageElement>('img'), find('.card-state'), find('.card-note')]
  const progress = find<HTMLProgressElement>('progress')
  const field = find<HTMLInputElement>('input')
  const copy = find<HTMLButtonElement>('[data-action="copy"]')
  const controls = [...element.querySelectorAll<HTMLElement>('.card-actions [data-action]')]
  let codes: EmbedCodes | undefined
  let format: keyof EmbedCodes = 'page'

  // Focus fallback while none of the card's controls is available.
  element.tabIndex = -1
  find('.card-name').textContent = name
  for (const control of [copy, ...controls])
    control.setAttribute('aria-label', `${control.textContent}: ${name}`)
  progress.setAttribute('aria-label', name)
  field.setAttribute('aria-label', name)
  field.addEventListener('focus', () => field.select())
  copy.addEventListener('click', () => void card.copy())
  for (const control of controls) {
    control.addEventListener('click', () => card.onAction?.(control.dataset.action as Action, control))
  }

  const card = {
    element,
    /** `control`: the element that was pressed. */
    onAction: undefined as ((action: Action, control: HTMLElement) => void) | undefined,
    show(view: CardView): void {
      const hadFocus = element.contains(document.activeElement)
      element.dataset.state = view.state
      state.textContent = view.status
      note.textContent = view.note ?? ''
      note.hidden = !view.note
      progress.hidden = view.percent === undefined
      const percent = view.percent ?? 0
      progress.value = percent
      element.style.setProperty('--sent', `${percent}`)
      codes = view.codes
      field.hidden = copy.hidden = !codes
      if (codes) {
        showLink(codes)
        find<HTMLAnchorElement>('a[data-action="open"]').href = codes.page
      }
      for (const control of controls)
        control.hidden = !view.actions.includes(control.dataset.action as Action)
      if (hadFocus) keepFocus()
    },
    picture(blob: Blob): void {
      image.src = URL.createObjectURL(blob)
      image.hidden = false
    },
    /** Selects the embed code that the link field shows and copies. */
    format(chosen: keyof EmbedCodes): void {
      format = chosen
      if (codes) showLink(codes)
    },
    /** Copies the contents of the link field. */
    copy: (said?: string): Promise<void> =>
      copyAndSay(field.value, { field, button: copy, ...(said ? { said } : {}) }),
    remove(): void {
      if (image.src) URL.revokeObjectURL(image.src)
      element.remove()
    },
  }

  function showLink(codes: EmbedCodes): void {
    field.value = codes[format]
    field.classList.toggle('ends', format === 'page' || format === 'direct')
  }

  /** Moves focus when the focused control was hidden. Prefers a safe action, so that pressing Enter twice never deletes. */
  function keepFocus(): void {
    const focused = document.activeElement as HTMLElement
    if (element.contains(focused) && focused.checkVisibility()) return
    const visible = [copy, ...controls].filter((control) => !control.hidden)
    const isSafe = ({ dataset: { action } }: HTMLElement) => action === 'keep' || action === 'retry'
    const next = visible.find(isSafe) ?? visible[0] ?? element
    next.focus()
  }

  return card
}
