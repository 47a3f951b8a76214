/** Several rows at once: copy their links, make one link of them, delete them. */
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { codesOfAll, makeGallery } from '../card/picture.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { confirming } from '../page/confirming.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import { reasonOf } from '../upload/reasons.ts'
import type { History, Remembered } from './history.ts'
import type { Row } from './row.ts'

export interface SelectionOptions {
  rows: ReadonlyMap<string, Row>
  history: History
  format(): keyof EmbedCodes
  onDeleted(id: string): void
}

export function createSelection({ rows, history, format, onDeleted }: SelectionOptions) {
  const find = (id: string) => document.getElementById(id) as HTMLButtonElement
  const [section, bar, start, end] = [find('earlier'), find('selection'), find('select'), find('select-end')]
  const [all, copy, link] = [find('select-all'), find('copy-selected'), find('link-selected')]
  const [ask, confirm, keep] = [find('delete-selected'), find('delete-confirm'), find('delete-keep')]
  let isDeleting = false
  const picked = () => [...rows.values()].filter((row) => row.picked)
  const pictures = () => picked().map(({ picture }) => picture)
  /** The others are hidden by a search, and stay picked. */
  const visible = () => [...rows.values()].filter(({ element }) => element.isConnected)
  /** The question is about so many. */
  let askedFor = 0

  /** Says how many are chosen, and offers what goes with that. */
  function settle(): void {
    const { length } = picked()
    find('selected').textContent = bar.hidden ? '' : inWords.count(words.selected, length)
    for (const button of [copy, link, ask]) button.disabled = length === 0 || isDeleting
    if (length !== askedFor) {
      // Another page may have deleted one of them under the question.
      const hadFocus = document.activeElement === keep || document.activeElement === confirm
      closeQuestion()
      if (hadFocus && !isDeleting) end.focus()
    }
    start.hidden = !bar.hidden || rows.size < 2
    if (rows.size === 0 && !bar.hidden) selecting(false)
  }

  function selecting(on: boolean): void {
    bar.hidden = !on
    section.toggleAttribute('data-selecting', on)
    for (const row of rows.values()) row.picked = false
    settle()
  }

  start.addEventListener('click', () => {
    selecting(true)
    all.focus()
  })
  end.addEventListener('click', () => {
    selecting(false)
    start.focus()
  })
  all.addEventListener('click', () => {
    const isAll = visible().every((row) => row.picked)
    for (const row of visible()) row.picked = !isAll
    settle()
  })
  copy.addEventListener('click', () => {
    const said = inWords.count(words.copiedAll, picked().length)
    void copyAndSay(codesOfAll(pictures(), format()), { said })
  })
  link.addEventListener('click', () => void makeGallery(pictures()))
  ask.addEventListener('click', () => {
    askedFor = picked().length
    confirm.textContent = inWords.count(words.deleteMany, askedFor)
  })
  const closeQuestion = confirming({ ask, confirm, keep, working: words.deleting, run: deletePicked })

  async function deletePicked(): Promise<void> {
    askedFor = 0
    isDeleting = true
    end.focus()
    settle()
    say(await deleteAll(pictures()))
    isDeleting = false
    settle()
  }

  /** Resolves with how it went. */
  async function deleteAll(pictures: Remembered[]): Promise<string> {
    const part = await import('./delete-picture.ts').catch(() => null)
    if (!part) return words.unreachable
    let deleted = 0
    let problem: unknown
    for (const picture of pictures) {
      try {
        await part.deletePicture(picture, history)
        deleted++
        onDeleted(picture.id)
      } catch (error) {
        problem ??= error
      }
    }
    const parts = [inWords.count(words.deletedMany, deleted)]
    if (problem !== undefined) {
      parts.push(inWords.fill(words.deleteFailed, { reason: await reasonOf(problem) }))
    }
    return parts.join(' ')
  }

  return { settle }
}
