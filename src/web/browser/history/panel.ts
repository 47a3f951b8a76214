/** List of pictures from earlier visits, with search and multiple selection. */
import '../../style/rows.css'
import { isGone } from '../../../client/api/gone.ts'
import { rawPath } from '../../../protocol.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import type { History, HistoryEntry } from './history.ts'
import { createRow, type Row } from './row.ts'
import { createSelection } from './selection.ts'

/** Keeps the two "Copy as" selects in sync. */
function syncFormats(): void {
  const find = (id: string) => document.getElementById(id) as HTMLSelectElement
  const [ofCards, ofRows] = [find('format'), find('earlier-format')]
  ofRows.value = ofCards.value
  ofCards.addEventListener('change', () => {
    ofRows.value = ofCards.value
  })
  ofRows.addEventListener('change', () => {
    ofCards.value = ofRows.value
    ofCards.dispatchEvent(new Event('change'))
  })
}

/** Rows shown initially, and added by each "Show more". */
const PAGE_SIZE = 24
/** The search field appears above this number of pictures. */
const SEARCH_THRESHOLD = 8

export interface PanelOptions {
  history: History
  format(): keyof EmbedCodes
  /** True if the picture already has a card. */
  isShown(id: string): boolean
  onEdit(picture: HistoryEntry): void
  onChange(): void
}

export type Panel = ReturnType<typeof createPanel>

export function createPanel({ history, format, isShown, onEdit, onChange }: PanelOptions) {
  const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
  const [list, section, more] = [find('remembered'), find('earlier'), find('show-more')]
  const search = find<HTMLInputElement>('search')
  const rows = new Map<string, Row>()
  const checked = new Set<string>()
  let all: HistoryEntry[] = []
  /** Maximum number of rows shown. */
  let maxRows = PAGE_SIZE

  syncFormats()
  const selection = createSelection({ rows, history, format, showAll, onDeleted: drop })

  function showAll(): void {
    maxRows = Number.POSITIVE_INFINITY
    show()
  }

  function drop(id: string): void {
    all = all.filter((picture) => picture.id !== id)
    show()
  }

  /** Removes a row and moves focus to its neighbour. */
  function removeRow(row: Row): void {
    const hadFocus = row.element.contains(document.activeElement)
    const next = row.element.nextElementSibling ?? row.element.previousElementSibling
    row.remove()
    if (hadFocus)
      (next?.querySelector<HTMLElement>('button:not([hidden])') ?? document.getElementById('file'))?.focus()
  }

  function createRowOf(picture: HistoryEntry): Row {
    return createRow(picture, {
      history,
      format,
      onSelect: selection.update,
      onEdit: () => onEdit(picture),
      onDeleted: () => drop(picture.id),
    })
  }

  /** Reuses rows, so that selections, open confirmations and focus survive. Rows hidden by a search stay selected. */
  function show(said?: string): void {
    const query = search.value.trim().toLocaleLowerCase()
    const matching = all.filter(({ name }) => name.toLocaleLowerCase().includes(query))
    const visible = new Set(matching.slice(0, maxRows))
    const oldRows = new Map(rows)
    rows.clear()
    for (const picture of all) {
      const row = oldRows.get(picture.id)
      row?.update(picture)
      if (row || visible.has(picture)) rows.set(picture.id, row ?? createRowOf(picture))
      if (row && !visible.has(picture)) row.element.remove()
      oldRows.delete(picture.id)
    }
    for (const row of oldRows.values()) removeRow(row)
    let next = list.firstElementChild
    for (const { id } of visible) {
      const { element } = rows.get(id)!
      // Moving an element would make it lose focus.
      if (element === next) next = next.nextElementSibling
      else list.insertBefore(element, next)
    }
    section.hidden = all.length === 0
    search.hidden = all.length <= SEARCH_THRESHOLD && search.value === ''
    more.hidden = visible.size === matching.length
    find('no-match').textContent = list.childElementCount === 0 && search.value !== '' ? words.noMatch : ''
    selection.update()
    onChange()
    void removeGone(
      [...visible].map(({ id }) => id),
      said,
    )
  }

  /** Removes pictures that the service no longer has: deleted from elsewhere, or removed by the operator. */
  async function removeGone(ids: string[], said?: string): Promise<void> {
    let gone = 0
    for (const id of ids.filter((id) => !checked.has(id))) {
      checked.add(id)
      if (!(await isGone(rawPath(id)).catch(() => false))) continue
      // The row goes even if the history can't be written.
      await history.remove(id).catch(() => {})
      drop(id)
      gone++
    }
    if (gone > 0) say([said, inWords.count(words.gone, gone)].filter(Boolean).join(' '))
  }

  search.addEventListener('input', () => {
    maxRows = PAGE_SIZE
    show()
  })
  more.addEventListener('click', () => {
    const last = list.lastElementChild
    maxRows += PAGE_SIZE
    show()
    last?.nextElementSibling?.querySelector<HTMLElement>('button:not([hidden])')?.focus()
  })

  return {
    get size(): number {
      return all.length
    },
    /** Reloads the history. `said`: precedes the next announcement. */
    async refresh(said?: string): Promise<void> {
      all = (await history.all()).filter(({ id }) => !isShown(id))
      show(said)
    },
  }
}
