/** What else can be done with a picture: one menu for all of them. */
import '../../style/menu.css'

export type MenuAction = 'open' | 'share' | 'qr' | 'edit' | 'describe' | 'delete-link' | 'delete'

/** Between the button and its menu, and between the menu and the edge of the screen. Unit: pixels. */
const GAP = 6

/**
 * Opens the menu at `button`. Escape and a press elsewhere close it, and the button has the focus again; Tab goes on from
 * the button.
 */
export function openMenu(
  button: HTMLElement,
  { link, actions, onAction }: { link: string; actions: MenuAction[]; onAction(action: MenuAction): void },
): void {
  const menu = document.getElementById('menu')!
  for (const item of menu.querySelectorAll<HTMLElement>('[data-action]')) {
    const action = item.dataset.action as MenuAction
    item.hidden = !actions.includes(action)
    if (item instanceof HTMLAnchorElement) item.href = link
    item.onclick = () => {
      menu.hidePopover()
      button.focus()
      if (action !== 'open') onAction(action)
    }
  }
  menu.onkeydown = (event) => {
    if (event.key === 'Tab') {
      menu.hidePopover()
      button.focus()
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const items = [...menu.querySelectorAll<HTMLElement>('[data-action]:not([hidden])')]
    const at = items.indexOf(document.activeElement as HTMLElement)
    items.at((at + step) % items.length)?.focus()
  }
  menu.ariaLabel = button.ariaLabel ?? button.textContent
  menu.showPopover()
  button.ariaExpanded = 'true'
  place()
  menu.querySelector<HTMLElement>('[data-action]:not([hidden])')?.focus()

  /** Beside its button, wherever that goes. */
  function place(): void {
    const { bottom, top, right } = button.getBoundingClientRect()
    const { width, height } = menu.getBoundingClientRect()
    const below = bottom + GAP
    const isRoom = below + height <= innerHeight - GAP
    menu.style.top = `${isRoom ? below : Math.max(GAP, top - GAP - height)}px`
    menu.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`
  }
  const moves = ['scroll', 'resize']
  for (const name of moves) addEventListener(name, place, true)
  // Not `ontoggle`, which comes later: another button may have opened it by then.
  menu.onbeforetoggle = () => {
    button.ariaExpanded = 'false'
    for (const name of moves) removeEventListener(name, place, true)
  }
}
