/** The editor's dialog: its tools, the picture, and the three ways out. */
import type { HomeFacts } from '../../pages/page-facts.ts'

export type Answer = 'send' | 'as-it-is' | 'cancel'

export interface Frame {
  /** Resolves with the person's choice. `problem`: this picture can't be edited, for this reason. */
  ask(asked: { progress: string; problem?: string }): Promise<Answer>
  /** A canvas for a picture of this shape, as large as the screen has use for. */
  resize(width: number, height: number): CanvasRenderingContext2D
  /** An empty layer over the picture, for its boxes. */
  newLayer(): HTMLElement
  isCropping(): boolean
  canUndo(can: boolean): void
  say(text: string): void
  onRotate: () => void
  onAdd: () => void
  onUndo: () => void
  close(): void
}

/** Unit: pixels. More than screens show of it. */
const MOST_SIDE = 2048

export function createFrame(words: HomeFacts['editor']): Frame {
  const dialog = make('dialog', 'editor')
  const heading = make('h2')
  heading.id = 'editor-title'
  heading.textContent = words.title
  heading.tabIndex = -1
  dialog.setAttribute('aria-labelledby', heading.id)
  const count = make('p', 'soft')
  const head = make('header', 'editor-head', heading, count)

  const [redact, crop] = [choice(words.redact, true), choice(words.crop, false)]
  const tabs = make('fieldset', 'tabs', redact.label, crop.label)
  const rotate = button(words.rotate, 'quiet')
  const add = button(words.addBox, 'quiet')
  const undo = button(words.undo, 'quiet')
  const tools = make('div', 'editor-tools', tabs, rotate, add, undo)

  const canvas = make('canvas')
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', words.picture)
  const sheet = make('div', 'editor-sheet', canvas)
  const stage = make('div', 'editor-stage', sheet)
  const status = make('p', 'visually-hidden')
  status.setAttribute('role', 'status')
  const keys = make('span', 'editor-keys')
  keys.textContent = words.hintKeys
  const hint = make('p', 'soft editor-hint')
  hint.append(words.hint, ' ', keys)
  const problem = make('p', 'problem')

  const send = button(words.send)
  const asItIs = button(words.asItIs, 'quiet')
  const cancel = button(words.cancel, 'quiet')
  dialog.append(head, tools, stage, problem, hint, make('div', 'actions', send, asItIs, cancel), status)
  document.body.append(dialog)

  let settle: (answer: Answer) => void = () => {}
  send.onclick = () => settle('send')
  asItIs.onclick = () => settle('as-it-is')
  cancel.onclick = () => settle('cancel')
  dialog.oncancel = (event) => {
    event.preventDefault()
    settle('cancel')
  }
  rotate.onclick = () => frame.onRotate()
  add.onclick = () => frame.onAdd()
  undo.onclick = () => frame.onUndo()
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey)) frame.onUndo()
  })
  const opener = document.activeElement as HTMLElement | null

  const frame: Frame = {
    ask({ progress, problem: reason }) {
      count.textContent = progress
      problem.textContent = reason ?? ''
      for (const part of [tools, stage, hint, send]) part.hidden = reason !== undefined
      if (!dialog.open) dialog.showModal()
      heading.focus()
      return new Promise((resolve) => {
        settle = resolve
      })
    },
    resize(width, height) {
      const scale = Math.min(1, MOST_SIDE / Math.max(width, height))
      canvas.width = Math.max(1, Math.round(width * scale))
      canvas.height = Math.max(1, Math.round(height * scale))
      return canvas.getContext('2d')!
    },
    newLayer() {
      sheet.querySelector('.editor-layer')?.remove()
      const layer = make('div', 'editor-layer')
      layer.tabIndex = -1
      sheet.append(layer)
      return layer
    },
    isCropping: () => crop.input.checked,
    canUndo(can) {
      undo.disabled = !can
    },
    say(text) {
      status.textContent = text
    },
    onRotate() {},
    onAdd() {},
    onUndo() {},
    close() {
      dialog.remove()
      opener?.focus()
    },
  }
  return frame

  function choice(text: string, checked: boolean) {
    const input = make('input')
    Object.assign(input, { type: 'radio', name: 'editor-tool', checked })
    const span = make('span')
    span.textContent = text
    return { input, label: make('label', '', input, span) }
  }
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className = '',
  ...children: HTMLElement[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  element.className = className
  element.append(...children)
  return element
}

function button(text: string, style = ''): HTMLButtonElement {
  const element = make('button', `button ${style}`)
  element.type = 'button'
  element.textContent = text
  return element
}
