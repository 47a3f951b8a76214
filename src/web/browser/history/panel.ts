/** The pictures of earlier visits: rows that can be searched, and chosen together. */
import '../../style/rows.css'
import { isGone } from '../../../client/api/gone.ts'
import { rawPath } from '../../../protocol.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import type { History, Remembered } from './history.ts'
import { createRow, type Row } from './row.ts'
import { createSelection } from './selection.ts'

/** One choice in two places: cards and rows copy their links in the same form. */
function joinFormats(): void {
  const [ofCards, ofRows] = ['format', 'earlier-format'].map((id) => document.getElementById(id)) as [
    HTMLSelectElement,
    HTMLSelectElement,
  ]
  ofRows.value = ofCards.value
  ofCards.addEventListener('change', () => {
    ofRows.value = ofCards.value
  })
  ofRows.addEventListener('change', () => {
    ofCards.value = ofRows.value
    ofCards.dispatchEvent(new Event('change'))
  })
}

/** Rows that are shown before "show more". */
const PAGE = 24
/** From so many on, a search field helps. */
const MANY = 8

export interface PanelOptions {
  history: History
  format(): keyof EmbedCodes
  /** Ids that have a card already. */
  isShown(id: string): boolean
  onEdit(picture: Remembered): void
  onChange(): void
}

export type Panel = ReturnType<typeof createPanel>

export function createPanel({ history, format, isShown, onEdit, onChange }: PanelOptions) {
  const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
  const [list, section, more] = [find('remembered'), find('earlier'), find('show-more')]
  const search = find<HTMLInputElement>('search')
  const rows = new Map<string, Row>()
  const asked = new Set<string>()
  let all: Remembered[] = []
  /** Most rows that are shown. */
  let most = PAGE
  /** Matching pictures past those. */
  let waiting = 0

  joinFormats()
  const selection = createSelection({ rows, history, format, onDeleted: drop })

  function settle(): void {
    section.hidden = all.length === 0
    search.hidden = all.length <= MANY && search.value === ''
    more.hidden = waiting === 0
    find('no-match').textContent = list.childElementCount === 0 && search.value !== '' ? words.noMatch : ''
    selection.settle()
    onChange()
  }

  function drop(id: string): void {
    all = all.filter((picture) => picture.id !== id)
    show()
  }

  /** Takes a row off. The focus goes to the row that takes its place. */
  function takeOff(row: Row): void {
    const hadFocus = row.element.contains(document.activeElement)
    const next = row.element.nextElementSibling ?? row.element.previousElementSibling
    row.remove()
    if (hadFocus)
      (next?.querySelector<HTMLElement>('button:not([hidden])') ?? document.getElementById('file'))?.focus()
  }

  function createRowOf(picture: Remembered): Row {
    return createRow(picture, {
      history,
      format,
      onPicked: selection.settle,
      onEdit: () => onEdit(picture),
      onDeleted: () => drop(picture.id),
    })
  }

  /** Reuses rows, so that picks, open questions and the focus outlast a change. Rows that a search hides stay picked. */
  function show(): void {
    const wanted = search.value.trim().toLocaleLowerCase()
    const matching = all.filter(({ name }) => name.toLocaleLowerCase().includes(wanted))
    const visible = new Set(matching.slice(0, most))
    waiting = matching.length - visible.size
    const before = new Map(rows)
    rows.clear()
    for (const picture of all) {
      const row = before.get(picture.id)
      row?.update(picture)
      if (row || visible.has(picture)) rows.set(picture.id, row ?? createRowOf(picture))
      if (row && !visible.has(picture)) row.element.remove()
      before.delete(picture.id)
    }
    for (const row of before.values()) takeOff(row)
    let next = list.firstElementChild
    for (const { id } of visible) {
      const { element } = rows.get(id)!
      // An element that is moved loses the focus.
      if (element === next) next = next.nextElementSibling
      else list.insertBefore(element, next)
    }
    settle()
    void dropGone([...visible].map(({ id }) => id))
  }

  /** Takes off what the service no longer has: deleted from elsewhere, or removed by the operator. */
  async function dropGone(ids: string[]): Promise<void> {
    let gone = 0
    for (const id of ids.filter((id) => !asked.has(id))) {
      asked.add(id)
      if (!(await isGone(rawPath(id)).catch(() => false))) continue
      await history.remove(id)
      drop(id)
      gone++
    }
    if (gone > 0) say(inWords.count(words.gone, gone))
  }

  search.addEventListener('input', () => {
    most = PAGE
    show()
  })
  more.addEventListener('click', () => {
    const last = list.lastElementChild
    most += PAGE
    show()
    last?.nextElementSibling?.querySelector<HTMLElement>('button:not([hidden])')?.focus()
  })

  return {
    get size(): number {
      return all.length
    },
    /** Reads the history anew. */
    async refresh(): Promise<void> {
      all = (await history.all()).filter(({ id }) => !isShown(id))
      show()
    },
  }
}
