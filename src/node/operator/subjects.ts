/** What commands take: ids, digests, reasons, rules; and who acts. */

import { InvalidArgumentError, Option } from 'commander'
import { idIn } from '../../service/images/ids.ts'
import { RULE_PATTERN } from '../../service/moderation/report-categories.ts'
import type { Actor } from '../../stores/ledger.ts'
import { accountOf } from './account.ts'

const SHA256_PATTERN = /^[0-9a-f]{64}$/

/** An id, or an address that ends with one. */
export function readId(subject: string): string {
  const id = idIn(subject)
  if (id === null) throw new InvalidArgumentError(`"${subject}" is no image's id.`)
  return id
}

/** For an argument that takes several. */
export function readIds(subject: string, before: string[] = []): string[] {
  return [...before, readId(subject)]
}

export function limitOption(): Option {
  return new Option('--limit <number>', 'list at most this many').default(100).argParser((text) => {
    if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A limit is a whole number.')
    return Number(text)
  })
}

/** SHA-256 in hex. */
export function readDigest(subject: string): string {
  const digest = subject.toLowerCase()
  if (!SHA256_PATTERN.test(digest)) throw new InvalidArgumentError(`"${subject}" is no SHA-256 in hex.`)
  return digest
}

/** For an argument that takes several. */
export function readDigests(subject: string, before: string[] = []): string[] {
  return [...before, readDigest(subject)]
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory().argParser((text) => {
    if (text.trim() === '') throw new InvalidArgumentError('Give a reason.')
    return text
  })
}

export function ruleOption(): Option {
  return new Option('--rule <code>', 'the rule that was broken; it is recorded').argParser((text) => {
    if (!RULE_PATTERN.test(text))
      throw new InvalidArgumentError('A rule is lower-case letters, digits and hyphens, e.g. copyright.')
    return text
  })
}

/** The account that runs the command. */
export function actedBy({ rule }: { rule?: string } = {}): Actor {
  return { who: accountOf(), ...(rule === undefined ? {} : { rule }) }
}
