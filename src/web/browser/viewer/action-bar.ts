/**
 * Floating action bar for very tall pictures, whose buttons are several screens below. Shown at the top of the page and when
 * scrolling up, until the original buttons are visible.
 */

/** Ignores smaller movements. Unit: CSS pixels. */
const MIN_SCROLL_PX = 8

export function initActionBar(): void {
  const actions = document.querySelector<HTMLElement>('.caption > .actions')!
  const bar = document.createElement('div')
  bar.className = 'reach'
  const report = document.querySelector<HTMLAnchorElement>('.colophon a[href*="?id="]')
  for (const original of [...actions.querySelectorAll<HTMLElement>(':scope > :is(button, a)'), report]) {
    if (!original || original.hidden || original.id === 'zoom' || original.id === 'copy-image') continue
    const copy = original.cloneNode(true) as HTMLElement
    copy.removeAttribute('id')
    copy.className = original === report ? 'button text' : original.className
    // Forward clicks to the original.
    if (copy instanceof HTMLButtonElement) copy.onclick = () => original.click()
    bar.append(copy)
  }
  document.querySelector('main')!.append(bar)

  let last = scrollY
  let isWanted = true
  let areActionsVisible = false

  function update(): void {
    const isHidden = areActionsVisible || !isWanted
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
      update()
    },
    { passive: true },
  )
  new IntersectionObserver(([entry]) => {
    areActionsVisible = entry!.isIntersecting
    update()
  }).observe(actions)
  update()
}
