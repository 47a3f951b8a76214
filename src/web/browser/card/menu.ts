/** The "More" menu, shared by all cards and rows. */
import '../../style/menu.css'

export type MenuAction = 'open' | 'share' | 'qr' | 'edit' | 'describe' | 'delete-link' | 'delete'

/** Gap between the button and the menu, and minimum distance from the viewport's edge. Unit: pixels. */
const GAP = 6

/**
 * Opens the menu at `button`. Escape or a press elsewhere closes it and returns focus to the button; Tab continues from the
 * button.
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
  position()
  menu.querySelector<HTMLElement>('[data-action]:not([hidden])')?.focus()

  /** Keeps the menu at its button while the page scrolls or resizes. */
  function position(): void {
    const { bottom, top, right } = button.getBoundingClientRect()
    const { width, height } = menu.getBoundingClientRect()
    const below = bottom + GAP
    const fitsBelow = below + height <= innerHeight - GAP
    menu.style.top = `${fitsBelow ? below : Math.max(GAP, top - GAP - height)}px`
    menu.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`
  }
  const repositionEvents = ['scroll', 'resize']
  for (const name of repositionEvents) addEventListener(name, position, true)
  // Not `ontoggle`, which fires later: another button may have opened the menu by then.
  menu.onbeforetoggle = () => {
    button.ariaExpanded = 'false'
    for (const name of repositionEvents) removeEventListener(name, position, true)
  }
}
