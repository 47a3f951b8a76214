/** Two-step confirmation for an action that can't be undone. */
import { say } from './status.ts'

export interface Confirmation {
  ask: HTMLElement
  confirm: HTMLElement
  keep: HTMLElement
  /** Shown and announced while `run` is running. */
  working: string
  run(): Promise<void>
}

/**
 * Pressing `ask` shows `confirm` and `keep` instead; Escape means `keep`. Both are inactive while `run` is running. Returns a
 * function that closes the confirmation unless it is running.
 */
export function confirming({ ask, confirm, keep, working, run }: Confirmation): () => void {
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
  for (const button of [confirm, keep])
    button.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && !isRunning) keep.click()
    })
  confirm.addEventListener('click', async () => {
    if (isRunning) return
    isRunning = keep.hidden = true
    const label = confirm.textContent
    confirm.textContent = working
    // Not `disabled`, which would lose focus.
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
