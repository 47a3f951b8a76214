/** Choices saved in localStorage, if the browser allows it. */

export const PREFIX = 'pinhole.'

export function read(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // The choice still applies until the page is closed.
  }
}

/** Restores a radio group and saves changes. */
export function rememberMode(radios: HTMLInputElement[]): () => string {
  const saved = radios.find(({ value }) => value === read('mode'))
  if (saved) saved.checked = true
  for (const radio of radios) radio.addEventListener('change', () => write('mode', radio.value))
  return () => radios.find(({ checked }) => checked)?.value ?? 'auto'
}

/** Restores a select and saves changes. `null`: the page has none. */
export function rememberChoice(list: HTMLSelectElement | null): () => string {
  if (!list) return () => ''
  const saved = read(list.id)
  if (saved !== null && [...list.options].some(({ value }) => value === saved)) list.value = saved
  list.addEventListener('change', () => write(list.id, list.value))
  return () => list.value
}

/** Restores a checkbox and saves changes. Default: as in the HTML. `null`: the page has none. */
export function rememberSwitch(toggle: HTMLInputElement | null): () => boolean {
  if (!toggle) return () => false
  const saved = read(toggle.id)
  if (saved) toggle.checked = saved === 'on'
  toggle.addEventListener('change', () => write(toggle.id, toggle.checked ? 'on' : 'off'))
  return () => toggle.checked
}
