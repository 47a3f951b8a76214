/** Bulk actions on selected rows: copy links, create a gallery, delete. */
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { codesOfAll } from '../card/codes.ts'
import { makeGallery } from '../card/picture.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { confirming } from '../page/confirming.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import { reasonOf } from '../upload/reasons.ts'
import type { History, HistoryEntry } from './history.ts'
import type { Row } from './row.ts'

export interface SelectionOptions {
  rows: ReadonlyMap<string, Row>
  history: History
  format(): keyof EmbedCodes
  /** Shows every row, also those behind "Show more". */
  showAll(): void
  onDeleted(id: string): void
}

export function createSelection({ rows, history, format, showAll, onDeleted }: SelectionOptions) {
  const find = (id: string) => document.getElementById(id) as HTMLButtonElement
  const [section, bar, start, end] = [find('earlier'), find('selection'), find('select'), find('select-end')]
  const [all, copy, link] = [find('select-all'), find('copy-selected'), find('link-selected')]
  const [ask, confirm, keep] = [find('delete-selected'), find('delete-confirm'), find('delete-keep')]
  let isDeleting = false
  const picked = () => [...rows.values()].filter((row) => row.picked)
  const pictures = () => picked().map(({ picture }) => picture)
  /** Rows not hidden by a search. Hidden ones stay selected. */
  const visible = () => [...rows.values()].filter(({ element }) => element.isConnected)
  /** Number of pictures in the open confirmation. */
  let askedCount = 0

  /** Updates the count and the buttons. */
  function update(): void {
    const { length } = picked()
    find('selected').textContent = bar.hidden ? '' : inWords.count(words.selected, length)
    for (const button of [copy, link, ask]) button.disabled = length === 0 || isDeleting
    if (length !== askedCount) {
      // Another tab may have deleted a selected picture while the confirmation is open.
      const hadFocus = document.activeElement === keep || document.activeElement === confirm
      closeQuestion()
      if (hadFocus && !isDeleting) end.focus()
    }
    start.hidden = !bar.hidden || rows.size < 2
    if (rows.size === 0 && !bar.hidden) {
      if (bar.contains(document.activeElement)) document.getElementById('file')?.focus()
      setSelecting(false)
    }
  }

  function setSelecting(on: boolean): void {
    bar.hidden = !on
    section.toggleAttribute('data-selecting', on)
    for (const row of rows.values()) row.picked = false
    update()
  }

  start.addEventListener('click', () => {
    setSelecting(true)
    all.focus()
  })
  end.addEventListener('click', () => {
    setSelecting(false)
    start.focus()
  })
  all.addEventListener('click', () => {
    showAll()
    const isAll = visible().every((row) => row.picked)
    for (const row of visible()) row.picked = !isAll
    update()
  })
  copy.addEventListener('click', () => {
    const said = inWords.count(words.copiedAll, picked().length)
    void copyAndSay(codesOfAll(pictures(), format()), { said })
  })
  link.addEventListener('click', () => void makeGallery(pictures()))
  ask.addEventListener('click', () => {
    askedCount = picked().length
    confirm.textContent = inWords.count(words.deleteMany, askedCount)
  })
  const closeQuestion = confirming({ ask, confirm, keep, working: words.deleting, run: deletePicked })

  async function deletePicked(): Promise<void> {
    askedCount = 0
    isDeleting = true
    end.focus()
    update()
    say(await deleteAll(pictures()))
    isDeleting = false
    update()
  }

  /** Resolves with a sentence about the outcome. */
  async function deleteAll(pictures: HistoryEntry[]): Promise<string> {
    const deletion = await import('./delete-picture.ts').catch(() => null)
    if (!deletion) return words.unreachable
    let deleted = 0
    let problem: unknown
    for (const picture of pictures) {
      try {
        await deletion.deletePicture(picture, history)
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

  return { update }
}
