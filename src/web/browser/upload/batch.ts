/** Announces uploads that were added together in one sentence, once the last one finishes. */
import { copyText } from '../page/clipboard.ts'
import { type NoticeOptions, say } from '../page/status.ts'
import { inWords, words } from './facts.ts'
import type { Outlook } from './queue.ts'

export interface Outcome {
  name: string
  /** Set if the upload failed. */
  reason?: string
  outlook?: Outlook | undefined
  /** The text to copy. */
  link?: string
  /** Appended to the announcement of a single picture. */
  remark?: string | false | undefined
}

/** "1 failed · 2 waiting to retry", or empty. */
export function failureSummary(failures: { outlook?: Outlook | undefined }[]): string {
  const resuming = failures.filter(({ outlook }) => outlook === 'transient').length
  const failed = failures.length - resuming
  return [
    failed > 0 && inWords.count(words.failures, failed),
    resuming > 0 && inWords.count(words.resuming, resuming),
  ]
    .filter(Boolean)
    .join(' · ')
}

export function createBatch() {
  let outcomes: Outcome[] = []
  let count = 0
  let autoCopies = false

  async function announce(all: Outcome[], autoCopy: boolean, copying: NoticeOptions): Promise<void> {
    const [only] = all
    const done = all.filter(({ link }) => link !== undefined)
    const saying = done.length > 0 ? copying : {}
    if (all.length > 1) {
      const parts = [
        done.length > 0 && inWords.count(words.allDone, done.length),
        failureSummary(all.filter(({ link }) => link === undefined)),
      ]
      say(parts.filter(Boolean).join(' '), saying)
    } else if (only?.link === undefined) {
      const sentence = only?.outlook === 'transient' ? words.resuming1 : words.failed1
      say(inWords.fill(sentence, { name: only?.name ?? '', reason: only?.reason ?? '' }))
    } else {
      // Only while the page has focus, so as not to overwrite what the user copied elsewhere in the meantime.
      const isCopied = autoCopy && document.hasFocus() && (await copyText(only.link))
      const sentence = inWords.fill(isCopied ? words.copied1 : words.ready1, { name: only.name })
      say([sentence, only.remark].filter(Boolean).join('. '), isCopied ? {} : saying)
    }
  }

  return {
    /** `autoCopy`: copy the link automatically, unless another file is added before the upload finishes. */
    begin(more: number, autoCopy: boolean): void {
      count += more
      autoCopies = autoCopy && count === 1
    },
    add: (outcome: Outcome) => outcomes.push(outcome),
    /** Announces the outcomes added since, if any. `copying`: the button that copies the links of all uploads. */
    end(copying: NoticeOptions): void {
      if (outcomes.length > 0) void announce(outcomes, autoCopies, copying)
      outcomes = []
      count = 0
      autoCopies = false
    },
  }
}
