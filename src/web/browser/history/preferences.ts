/** Choices that outlast the page, where the browser allows it. */

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
    // It holds until the page is closed.
  }
}

/** A radio group that comes back as it was left. */
export function rememberMode(radios: HTMLInputElement[]): () => string {
  const kept = radios.find(({ value }) => value === read('mode'))
  if (kept) kept.checked = true
  for (const radio of radios) radio.addEventListener('change', () => write('mode', radio.value))
  return () => radios.find(({ checked }) => checked)?.value ?? 'auto'
}

/** A list that comes back as it was left. `null`: the page has none. */
export function rememberChoice(list: HTMLSelectElement | null): () => string {
  if (!list) return () => ''
  const kept = read(list.id)
  if (kept !== null && [...list.options].some(({ value }) => value === kept)) list.value = kept
  list.addEventListener('change', () => write(list.id, list.value))
  return () => list.value
}

/** A checkbox kept in localStorage; the first time it is as the HTML has it. `null`: the page has none. */
export function rememberSwitch(toggle: HTMLInputElement | null): () => boolean {
  if (!toggle) return () => false
  const kept = read(toggle.id)
  if (kept) toggle.checked = kept === 'on'
  toggle.addEventListener('change', () => write(toggle.id, toggle.checked ? 'on' : 'off'))
  return () => toggle.checked
}
