/**
 * A second press where a question comes up is no answer to it. The style sheet lets no press through to a new
 * question (`asked`); the focus stays on the answer that changes nothing, and a key that is held down presses once.
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
