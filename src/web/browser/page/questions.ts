/**
 * Prevents a double click from confirming a question that has just appeared: presses are ignored while its `asked` animation
 * runs, and a held Enter key counts once. Focus stays on the safe answer.
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
