/** The page that gets a pass: it solves a challenge, and makes of the pass what tools take. */
import { puzzleIn, solve } from '../../client/api/challenge.ts'
import {
  CHALLENGE_PATH,
  PASS_PATH,
  PASS_PATTERN,
  type PassAnswer,
  SHAREX_PATH,
  SOLUTION_HEADER,
  UPLOAD_FIELD,
  UPLOAD_PATH,
} from '../../protocol.ts'
import type { PassFacts } from '../pages/page-facts.ts'
import { enliveCopyFields } from './page/clipboard.ts'
import { locale, pageFacts } from './page/facts.ts'

const { words, baseUrl } = pageFacts as PassFacts
const part = <Part extends HTMLElement>(id: string) => document.getElementById(id) as Part
const button = part<HTMLButtonElement>('get')
const progress = part<HTMLProgressElement>('progress')

enliveCopyFields()
if (globalThis.crypto?.subtle === undefined) part('problem').textContent = words.needsHttps
else button.hidden = false
button.addEventListener('click', async () => {
  if (button.ariaDisabled) return
  setWorking(true)
  try {
    // Fetched before the proof of work: a failure after it would lose the pass.
    const config = await (await fetch(SHAREX_PATH)).json()
    show(await getPass(), config)
    button.hidden = true
  } catch {
    part('problem').textContent = words.failed
  }
  setWorking(false)
})

function setWorking(isWorking: boolean): void {
  // Not `disabled`, which would lose the focus.
  button.ariaDisabled = isWorking ? 'true' : null
  part('working').hidden = !isWorking
  if (isWorking) part('problem').textContent = ''
}

async function getPass(): Promise<PassAnswer> {
  const asked = await fetch(`${CHALLENGE_PATH}?for=pass`)
  const puzzle = puzzleIn(await asked.json())
  if (puzzle === null) throw new Error('this is no challenge')
  progress.max = puzzle.answers
  progress.value = 0
  const solution = await solve(puzzle, {
    onAnswer(found) {
      progress.value = found
    },
  })
  const answer = await fetch(PASS_PATH, { method: 'POST', headers: { [SOLUTION_HEADER]: solution } })
  const told: PassAnswer = await answer.json()
  if (answer.status !== 201 || !PASS_PATTERN.test(told.pass)) throw new Error('the answer is no pass')
  return told
}

function show({ pass, expires }: PassAnswer, config: { Headers?: object }): void {
  const header = `Bearer ${pass}`
  part<HTMLInputElement>('pass').value = pass
  part<HTMLInputElement>('curl').value =
    `curl -H 'Authorization: ${header}' -F ${UPLOAD_FIELD}=@picture.png ${baseUrl}${UPLOAD_PATH}`
  const withPass = { ...config, Headers: { ...config.Headers, Authorization: header } }
  const file = new Blob([JSON.stringify(withPass, null, 2)], { type: 'application/json' })
  part<HTMLAnchorElement>('sharex').href = URL.createObjectURL(file)
  const time = part<HTMLTimeElement>('expires')
  time.dateTime = expires
  time.textContent = new Date(expires).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  part('got').hidden = false
  part('got').querySelector('h2')!.focus()
}
