/** The editor's dialog: toolbar, stage, and the send and cancel buttons. */
import type { HomeFacts } from '../../pages/page-facts.ts'
import type { MarkKind } from './edits.ts'

export type Tool = MarkKind | 'crop' | 'move'

export type Answer = 'send' | 'as-it-is' | 'cancel'

const TOOLS: Tool[] = ['redact', 'crop', 'arrow', 'pen', 'text', 'move']

const ACTIONS = ['undo', 'redo', 'rotate', 'zoomOut', 'zoomIn', 'add', 'remove'] as const
export type Action = (typeof ACTIONS)[number]

/** Shortcuts with Ctrl or ⌘. */
const CTRL_SHORTCUTS: Record<string, Action> = { z: 'undo', 'Shift+z': 'redo', y: 'redo' }
const SHORTCUTS: Record<string, Action> = { '+': 'zoomIn', '-': 'zoomOut' }

/** Labels of the send and cancel buttons. */
export type ExitLabels = Pick<HomeFacts['editor'], 'send' | 'cancel'>

export type Frame = ReturnType<typeof createFrame>

export function createFrame(words: HomeFacts['editor'], exitLabels: ExitLabels) {
  const dialog = make('dialog', 'editor')
  const heading = make('h2')
  heading.id = 'editor-title'
  heading.textContent = words.title
  heading.tabIndex = -1
  dialog.setAttribute('aria-labelledby', heading.id)
  const count = make('p', 'soft')
  count.id = 'editor-count'
  heading.setAttribute('aria-describedby', count.id)
  const [send, asItIs, cancel] = [
    button(exitLabels.send),
    button(words.asItIs, 'quiet'),
    button(exitLabels.cancel, 'quiet'),
  ]
  const head = make('header', 'editor-head', cancel, make('div', 'editor-name', heading, count), asItIs, send)

  const stage = make('div', 'editor-stage')
  const problem = make('p', 'problem')
  const status = make('p', 'visually-hidden')
  status.setAttribute('role', 'status')

  const actions = new Map(ACTIONS.map((name) => [name, iconButton(name)] as const))
  const choices = TOOLS.map((name) => choice(name))
  const tools = make('fieldset', 'editor-tools', ...choices.map(({ label }) => label))
  tools.setAttribute('aria-label', words.toolbar)
  const bar = make('div', 'editor-bar', make('div', 'editor-actions', ...actions.values()), tools)

  const field = make('input')
  Object.assign(field, { type: 'text', maxLength: 200, autocomplete: 'off', enterKeyHint: 'done' })
  field.ariaLabel = field.placeholder = words.textHint
  const writing = make('form', 'editor-writing', field, button(words.textDone, 'quiet'))
  writing.hidden = true
  ;(writing.lastElementChild as HTMLButtonElement).type = 'submit'

  const keys = make('span', 'editor-keys')
  keys.textContent = words.hintKeys
  const fingers = make('span', 'editor-fingers')
  fingers.textContent = words.hintFingers
  const hint = make('p', 'soft editor-hint')
  hint.append(words.hint, ' ', fingers, keys)

  const leave = make('dialog', 'editor-leave')
  const question = make('h3')
  question.id = 'editor-leave'
  question.textContent = words.leave
  leave.setAttribute('aria-labelledby', question.id)
  const [discard, stay] = [button(words.discard, 'danger'), button(words.stay, 'quiet')]
  leave.append(question, make('div', 'actions', discard, stay))

  dialog.append(head, hint, problem, stage, writing, bar, status, leave)
  document.body.append(dialog)

  let answer: (choice: Answer) => void = () => {}
  send.onclick = () => answer('send')
  asItIs.onclick = () => answer('as-it-is')
  const cancelOrConfirm = () => {
    if (!frame.hasChanges()) return answer('cancel')
    leave.showModal()
    stay.focus()
  }
  cancel.onclick = cancelOrConfirm
  dialog.oncancel = (event) => {
    if (event.target !== dialog) return
    event.preventDefault()
    cancelOrConfirm()
  }
  // Chromium closes a dialog on a second Escape (or Android's Back) even if `cancel` was prevented. Reopen it with the
  // confirmation, so that no edits are lost.
  dialog.onclose = () => {
    if (!dialog.isConnected) return
    leave.close()
    dialog.showModal()
    if (frame.hasChanges()) cancelOrConfirm()
  }
  stay.onclick = () => leave.close()
  discard.onclick = () => {
    leave.close()
    answer('cancel')
  }
  const onBeforeUnload = (event: BeforeUnloadEvent) => {
    if (frame.hasChanges()) event.preventDefault()
  }
  addEventListener('beforeunload', onBeforeUnload)

  for (const [name, element] of actions) element.onclick = () => frame.onAction(name)
  tools.onchange = () => {
    stage.dataset.tool = frame.tool()
    frame.onTool()
  }
  field.oninput = () => frame.onText(field.value)
  field.onchange = () => frame.onTextEnd()
  writing.onsubmit = (event) => {
    event.preventDefault()
    frame.onTextEnd()
    frame.showText(null)
  }
  dialog.addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches('input[type="text"]')
    const { key } = event
    const hasCtrl = event.ctrlKey || event.metaKey
    if (isTyping && key === 'Escape' && !event.isComposing) {
      // Otherwise it closes the dialog.
      event.preventDefault()
      writing.requestSubmit()
    }
    if (isTyping || leave.open) return
    const action = hasCtrl
      ? CTRL_SHORTCUTS[`${event.shiftKey ? 'Shift+' : ''}${key.toLowerCase()}`]
      : SHORTCUTS[key]
    if (!action) return
    event.preventDefault()
    frame.onAction(action)
  })
  const opener = document.activeElement as HTMLElement | null

  const frame = {
    /** Resolves with the user's choice. `problem`: why this picture can't be edited. */
    ask({ progress, problem: reason }: { progress: string; problem?: string }): Promise<Answer> {
      count.textContent = progress
      problem.textContent = reason ?? ''
      const isStuck = reason !== undefined
      for (const part of [bar, stage, hint, send]) part.hidden = isStuck
      problem.hidden = asItIs.hidden = !isStuck
      dialog.toggleAttribute('data-stuck', isStuck)
      if (!dialog.open) dialog.showModal()
      heading.focus()
      return new Promise((resolve) => {
        answer = resolve
      })
    },
    /** Replaces the stage with an empty one. */
    newStage(): { element: HTMLElement; canvas: HTMLCanvasElement } {
      const canvas = make('canvas')
      canvas.setAttribute('role', 'img')
      canvas.setAttribute('aria-label', words.picture)
      stage.dataset.tool = frame.tool()
      const area = make('div', 'editor-place', canvas)
      stage.replaceChildren(area)
      return { element: area, canvas }
    },
    tool: (): Tool => choices.find(({ input }) => input.checked)!.name,
    allow(action: Action, can: boolean): void {
      // Not `disabled`, which would lose focus.
      actions.get(action)!.ariaDisabled = can ? null : 'true'
    },
    /** Shows the text field with the selected text; `null` hides it. */
    showText(text: string | null): void {
      // Shortcuts reach the dialog only while it contains the focus.
      if (text === null && document.activeElement === field) heading.focus()
      writing.hidden = text === null
      if (text !== null && text !== field.value) field.value = text
    },
    focusText(): void {
      field.focus()
    },
    say(text: string): void {
      status.textContent = text
    },
    /** True if closing would lose edits. */
    hasChanges: (): boolean => false,
    onTool(): void {},
    onAction(_action: Action): void {},
    onText(_text: string): void {},
    onTextEnd(): void {},
    close(): void {
      removeEventListener('beforeunload', onBeforeUnload)
      dialog.remove()
      opener?.focus()
    },
  }
  return frame

  function choice(name: Tool) {
    const input = make('input')
    Object.assign(input, { type: 'radio', name: 'editor-tool', value: name, checked: name === TOOLS[0] })
    const text = make('span')
    text.append(icon(name), words.tools[name])
    return { name, input, label: make('label', '', input, text) }
  }

  function iconButton(name: Action): HTMLButtonElement {
    const element = button('', 'quiet')
    element.append(icon(name))
    element.ariaLabel = element.title = words.actions[name]
    element.dataset.action = name
    return element
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

/** Button icons as SVG paths in a 24 × 24 view box. */
const PATHS: Record<Tool | Action, string> = {
  redact: 'M3 8h18v8H3ZM3 10h18M3 12h18M3 14h18',
  crop: 'M7 2v15h15M2 7h15v15',
  arrow: 'M5 19 19 5M9 5h10v10',
  pen: 'M3 18c3-8 5-12 7-12s0 9 3 9 3-5 8-5',
  text: 'M5 7V4h14v3M12 4v16M9 20h6',
  move: 'M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3',
  rotate: 'M20 12a8 8 0 1 1-2.5-6M20 3v5h-5',
  undo: 'M9 6 4 11l5 5M4 11h10a5 5 0 0 1 0 10h-2',
  redo: 'M15 6l5 5-5 5M20 11H10a5 5 0 0 0 0 10h2',
  zoomIn: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM21 21l-5-5M8 11h6M11 8v6',
  zoomOut: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM21 21l-5-5M8 11h6',
  add: 'M4 4h16v16H4ZM12 8v8M8 12h8',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
}

const SVG = 'http://www.w3.org/2000/svg'

function icon(name: Tool | Action): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', 'edit-icon')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}
