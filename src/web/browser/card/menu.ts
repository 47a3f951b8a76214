/** What else can be done with a picture: one menu for all of them. */

export type MenuAction = 'open' | 'share' | 'qr' | 'delete-link' | 'delete'

/** Between the button and its menu, and between the menu and the edge of the screen. Unit: pixels. */
const GAP = 6

/** Opens the menu at `button`. Escape and a press elsewhere close it, and the button has the focus again. */
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
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const items = [...menu.querySelectorAll<HTMLElement>('[data-action]:not([hidden])')]
    const at = items.indexOf(document.activeElement as HTMLElement)
    items.at((at + step) % items.length)?.focus()
  }
  menu.showPopover()
  const place = button.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const below = place.bottom + GAP
  const top = below + height > innerHeight - GAP ? Math.max(GAP, place.top - GAP - height) : below
  menu.style.top = `${top}px`
  menu.style.left = `${Math.max(GAP, Math.min(place.right - width, innerWidth - width - GAP))}px`
  menu.querySelector<HTMLElement>('[data-action]:not([hidden])')?.focus()
}
