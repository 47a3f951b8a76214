/**
 * Prevents a double click from confirming a question that has just appeared. While its `asked` animation runs, the style sheet
 * lets no press reach it, and here such a press doesn't take focus away from the safe answer. A held Enter key counts once.
 */
export function guardQuestions(): void {
  addEventListener('mousedown', (event) => {
    const isNew = document
      .getAnimations()
      .some((animation) => (animation as CSSAnimation).animationName === 'asked')
    if (isNew) event.preventDefault()
  })
  addEventListener('keydown', (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault()
  })
}
