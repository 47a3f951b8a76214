/**
 * What can be done with a picture that is read from top to bottom: its buttons stand screens below. A bar at the foot of
 * the screen has them at the beginning and whenever the page is scrolled up, until they are in sight themselves.
 */

/** Less is a trembling finger. Unit: CSS pixels. */
const MIN_SCROLL_PX = 8

export function enliveReach(): void {
  const actions = document.querySelector<HTMLElement>('.caption > .actions')!
  const bar = document.createElement('div')
  bar.className = 'reach'
  const report = document.querySelector<HTMLAnchorElement>('.colophon a[href*="?id="]')
  for (const original of [...actions.querySelectorAll<HTMLElement>(':scope > :is(button, a)'), report]) {
    if (!original || original.hidden || original.id === 'zoom' || original.id === 'copy-image') continue
    const twin = original.cloneNode(true) as HTMLElement
    twin.removeAttribute('id')
    twin.className = original === report ? 'button text' : original.className
    // The one press does what the other would.
    if (twin instanceof HTMLButtonElement) twin.onclick = () => original.click()
    bar.append(twin)
  }
  document.querySelector('main')!.append(bar)

  let last = scrollY
  let isWanted = true
  let isSeen = false

  function settle(): void {
    const isHidden = isSeen || !isWanted
    bar.toggleAttribute('data-away', isHidden)
    bar.inert = isHidden
  }

  addEventListener(
    'scroll',
    () => {
      const moved = scrollY - last
      if (Math.abs(moved) < MIN_SCROLL_PX) return
      last = scrollY
      isWanted = moved < 0 || scrollY <= 0
      settle()
    },
    { passive: true },
  )
  new IntersectionObserver(([entry]) => {
    isSeen = entry!.isIntersecting
    settle()
  }).observe(actions)
  settle()
}
