/** Keyboard shortcuts and undo countdowns of the admin pages, which work without scripts, too. */

/** Shortcuts can be turned off, because speech input can trigger single keys by accident (WCAG 2.2, 2.1.4). */
const SETTING = 'operator-keys'
let isOn = localStorage.getItem(SETTING) !== 'off'

const button = document.getElementById('keys') as HTMLButtonElement
button.hidden = false
button.addEventListener('click', () => {
  isOn = !isOn
  localStorage.setItem(SETTING, isOn ? 'on' : 'off')
  show()
})
show()

function show(): void {
  button.setAttribute('aria-pressed', `${isOn}`)
  document.body.classList.toggle('keyless', !isOn)
}

document.addEventListener('keydown', (event) => {
  const { key, ctrlKey, altKey, metaKey, repeat, target } = event
  if (!isOn || ctrlKey || altKey || metaKey || repeat || !(target instanceof Element)) return
  if (target.closest('input, select, textarea')) return
  // Space activates the focused control.
  if (key === ' ' && target.closest('a, button, summary')) return
  const name = key === ' ' ? 'space' : key
  const control = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(name)}"]`)
  if (control === null) return
  event.preventDefault()
  control.click()
})

// Pressed twice, a key would decide twice, and the answer would be that of the second decision: that it came too late.
let isSent = false
addEventListener('submit', (event) => {
  if (isSent) event.preventDefault()
  isSent = true
})
// The browser may show the page again as it was left.
addEventListener('pageshow', () => {
  isSent = false
})

for (const form of document.querySelectorAll<HTMLElement>('form[data-left]')) {
  const until = performance.now() + Number(form.dataset.left) * 1000
  const seconds = form.querySelector('span')!
  const timer = setInterval(() => {
    const left = Math.ceil((until - performance.now()) / 1000)
    if (left > 0) {
      seconds.textContent = `${left}`
      return
    }
    clearInterval(timer)
    form.remove()
  }, 250)
}
