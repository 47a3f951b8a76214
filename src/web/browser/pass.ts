/** The pass page: solves a challenge, then shows the pass with ready-made tool settings. */
import { parseChallenge, solve } from '../../client/api/challenge.ts'
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
import { initCopyFields } from './page/clipboard.ts'
import { locale, pageFacts } from './page/facts.ts'

const { words, baseUrl } = pageFacts as PassFacts
const find = <Part extends HTMLElement>(id: string) => document.getElementById(id) as Part
const button = find<HTMLButtonElement>('get')
const progress = find<HTMLProgressElement>('progress')

initCopyFields()
if (globalThis.crypto?.subtle === undefined) find('problem').textContent = words.needsHttps
else button.hidden = false
button.addEventListener('click', async () => {
  if (button.ariaDisabled) return
  setWorking(true)
  try {
    // Fetched before the proof of work, because a failure afterwards would lose the pass.
    const config = await (await fetch(SHAREX_PATH)).json()
    show(await getPass(), config)
    button.hidden = true
  } catch {
    find('problem').textContent = words.failed
  }
  setWorking(false)
})

function setWorking(isWorking: boolean): void {
  // Not `disabled`, which would lose focus.
  button.ariaDisabled = isWorking ? 'true' : null
  find('working').hidden = !isWorking
  if (isWorking) find('problem').textContent = ''
}

async function getPass(): Promise<PassAnswer> {
  const asked = await fetch(`${CHALLENGE_PATH}?for=pass`)
  const puzzle = parseChallenge(await asked.json())
  if (puzzle === null) throw new Error('not a challenge')
  progress.max = puzzle.answers
  progress.value = 0
  const solution = await solve(puzzle, {
    onAnswer(found) {
      progress.value = found
    },
  })
  const answer = await fetch(PASS_PATH, { method: 'POST', headers: { [SOLUTION_HEADER]: solution } })
  const issued: PassAnswer = await answer.json()
  if (answer.status !== 201 || !PASS_PATTERN.test(issued.pass)) throw new Error('not a pass')
  return issued
}

function show({ pass, expires }: PassAnswer, config: { Headers?: object }): void {
  const header = `Bearer ${pass}`
  find<HTMLInputElement>('pass').value = pass
  find<HTMLInputElement>('curl').value =
    `curl -H 'Authorization: ${header}' -F ${UPLOAD_FIELD}=@picture.png ${baseUrl}${UPLOAD_PATH}`
  const withPass = { ...config, Headers: { ...config.Headers, Authorization: header } }
  const file = new Blob([JSON.stringify(withPass, null, 2)], { type: 'application/json' })
  find<HTMLAnchorElement>('sharex').href = URL.createObjectURL(file)
  const time = find<HTMLTimeElement>('expires')
  time.dateTime = expires
  time.textContent = new Date(expires).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  find('got').hidden = false
  find('got').querySelector('h2')!.focus()
}
