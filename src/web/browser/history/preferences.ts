/** Choices that outlast the page, where the browser allows it. */

function read(name: string): string | null {
  try {
    return localStorage.getItem(`pinhole.${name}`)
  } catch {
    return null
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`pinhole.${name}`, value)
  } catch {
    // It holds until the page is closed.
  }
}

/** A radio group or switch that comes back as it was left. */
export function rememberMode(radios: HTMLInputElement[]): () => string {
  const kept = radios.find(({ value }) => value === read('mode'))
  if (kept) kept.checked = true
  for (const radio of radios) radio.addEventListener('change', () => write('mode', radio.value))
  return () => radios.find(({ checked }) => checked)!.value
}

export function rememberSwitch(toggle: HTMLInputElement): () => boolean {
  toggle.checked = read('remember') !== 'off'
  toggle.addEventListener('change', () => write('remember', toggle.checked ? 'on' : 'off'))
  return () => toggle.checked
}
