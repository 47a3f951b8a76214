/** What came together is spoken of together: one sentence when the last of it is settled. */
import { copyText } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { inWords, words } from './facts.ts'
import type { Outlook } from './queue.ts'

export interface Settled {
  name: string
  /** Why it failed; set if it did. */
  reason?: string
  outlook?: Outlook | undefined
  /** What is copied. */
  link?: string
  /** What is said after it, if it comes alone. */
  remark?: string | false | undefined
}

/** "1 failed · 2 waiting to retry"; empty, if none. */
export function unsentInWords(failures: { outlook?: Outlook | undefined }[]): string {
  const resuming = failures.filter(({ outlook }) => outlook === 'resumes').length
  const failed = failures.length - resuming
  return [
    failed > 0 && inWords.count(words.failures, failed),
    resuming > 0 && inWords.count(words.resuming, resuming),
  ]
    .filter(Boolean)
    .join(' · ')
}

export function createBatch() {
  let settled: Settled[] = []
  let count = 0
  let copies = false

  async function speak(all: Settled[], byItself: boolean, onCopy: () => void): Promise<void> {
    const [only] = all
    const done = all.filter(({ link }) => link !== undefined)
    const saying = done.length > 0 ? { onCopy } : {}
    if (all.length > 1) {
      const parts = [
        done.length > 0 && inWords.count(words.allDone, done.length),
        unsentInWords(all.filter(({ link }) => link === undefined)),
      ]
      say(parts.filter(Boolean).join(' '), saying)
    } else if (only?.link === undefined) {
      const sentence = only?.outlook === 'resumes' ? words.resuming1 : words.failed1
      say(inWords.fill(sentence, { name: only?.name ?? '', reason: only?.reason ?? '' }))
    } else {
      // Only where the person is still looking: what they copied elsewhere meanwhile is theirs.
      const isCopied = byItself && document.hasFocus() && (await copyText(only.link))
      const sentence = inWords.fill(isCopied ? words.copied1 : words.ready1, { name: only.name })
      say([sentence, only.remark].filter(Boolean).join('. '), isCopied ? {} : saying)
    }
  }

  return {
    /** `copiesItself`: its link goes to the clipboard by itself, if no other file is added before it is done. */
    begin(more: number, copiesItself: boolean): void {
      count += more
      copies = copiesItself && count === 1
    },
    add: (one: Settled) => settled.push(one),
    /** Speaks, if something was added since. `onCopy`: copies all that is uploaded. */
    end(onCopy: () => void): void {
      if (settled.length > 0) void speak(settled, copies, onCopy)
      settled = []
      count = 0
      copies = false
    },
  }
}
