/** The pictures of earlier visits. */
import { rawPath } from '../../../protocol.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { type Card, createCard } from '../card/card.ts'
import { showPicture, typeName } from '../card/picture-card.ts'
import { facts, inWords, words } from '../page/facts.ts'
import { say } from '../page/status.ts'
import type { History, Remembered } from './history.ts'

/** Cards that are shown before "show more". */
const PAGE = 12

export interface RememberedListOptions {
  history: History
  format(): keyof EmbedCodes
  /** Ids that have a card already. */
  isShown(id: string): boolean
  onChange(): void
}

export interface RememberedList {
  /** Reads the history anew. */
  refresh(): Promise<void>
  showFormat(format: keyof EmbedCodes): void
  readonly size: number
}

export function createRememberedList(options: RememberedListOptions): RememberedList {
  const { history, format, isShown, onChange } = options
  const list = document.getElementById('remembered')!
  const section = document.getElementById('earlier')!
  const more = document.getElementById('show-more') as HTMLButtonElement
  const cards = new Map<string, Card>()
  const date = new Intl.DateTimeFormat(facts.lang, { dateStyle: 'medium' })
  let waiting: Remembered[] = []

  function settle(): void {
    section.hidden = cards.size === 0
    more.hidden = waiting.length === 0
    onChange()
  }

  function drop(id: string): void {
    cards.get(id)?.remove()
    cards.delete(id)
    settle()
  }

  function showMore(): void {
    for (const picture of waiting.splice(0, PAGE)) {
      const card = createCard(picture.name || words.thumbnail)
      card.format(format())
      if (picture.thumbnail) card.picture(picture.thumbnail)
      showPicture(card, picture, {
        history,
        status: `${typeName(picture.type)} ${inWords.bytes(picture.bytesOut)}`,
        note: date.format(new Date(picture.at)),
        onDeleted() {
          drop(picture.id)
          document.getElementById('pictures-title')!.focus()
        },
      })
      cards.set(picture.id, card)
      list.append(card.element)
    }
    settle()
    void dropGone([...cards.keys()])
  }

  const asked = new Set<string>()

  /** Takes off what the service no longer has: deleted from elsewhere, or removed by the operator. */
  async function dropGone(ids: string[]): Promise<void> {
    let gone = 0
    for (const id of ids.filter((id) => !asked.has(id))) {
      asked.add(id)
      const answer = await fetch(rawPath(id), { method: 'HEAD', cache: 'no-store' }).catch(() => null)
      if (answer?.status !== 404 && answer?.status !== 410) continue
      await history.remove(id)
      drop(id)
      gone++
    }
    if (gone > 0) say(inWords.count(words.gone, gone))
  }

  more.addEventListener('click', () => {
    const last = list.lastElementChild
    showMore()
    last?.nextElementSibling?.querySelector<HTMLElement>('button:not([hidden])')?.focus()
  })

  return {
    get size() {
      return cards.size
    },
    async refresh() {
      for (const card of cards.values()) card.remove()
      cards.clear()
      waiting = (await history.all()).filter(({ id }) => !isShown(id))
      showMore()
    },
    showFormat(chosen) {
      for (const card of cards.values()) card.format(chosen)
    },
  }
}
