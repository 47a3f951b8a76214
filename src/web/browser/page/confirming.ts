/** A question before something that can't be undone. */
import { say } from './status.ts'

export interface Question {
  ask: HTMLElement
  confirm: HTMLElement
  keep: HTMLElement
  /** Said while `run` is under way. */
  working: string
  run(): Promise<void>
}

/**
 * `ask` gives way to the answers. Once confirmed, no answer is taken until `run` has settled. Returns what takes the
 * question back, unless it has been answered.
 */
export function confirming({ ask, confirm, keep, working, run }: Question): () => void {
  let isRunning = false
  const show = (on: boolean) => {
    ask.hidden = on
    confirm.hidden = keep.hidden = !on
  }
  const close = () => {
    if (!isRunning) show(false)
  }
  ask.addEventListener('click', () => {
    show(true)
    keep.focus()
  })
  keep.addEventListener('click', () => {
    close()
    ask.focus()
  })
  confirm.addEventListener('click', async () => {
    if (isRunning) return
    isRunning = keep.hidden = true
    const label = confirm.textContent
    confirm.textContent = working
    // Not `disabled`, which would lose the focus.
    confirm.ariaDisabled = 'true'
    say(working)
    await run()
    isRunning = false
    confirm.textContent = label
    confirm.ariaDisabled = null
    const hadFocus = document.activeElement === confirm
    close()
    if (hadFocus) ask.focus()
  })
  return close
}
