/** Arguments and options that several commands take, and who acts. */
import { hostname, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { idIn } from '../../service/images/ids.ts'
import { RULE_PATTERN } from '../../service/moderation/report-categories.ts'
import type { Actor } from '../../stores/ledger.ts'

/** An id, or an address that ends with one. */
export function readId(subject: string): string {
  const id = idIn(subject)
  if (id === null) throw new InvalidArgumentError(`"${subject}" is no image's id.`)
  return id
}

/** SHA-256 in hex. */
export function readDigest(subject: string): string {
  const digest = subject.toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new InvalidArgumentError(`"${subject}" is no SHA-256 in hex.`)
  return digest
}

/** For an argument that takes several. */
export function several(read: (subject: string) => string) {
  return (subject: string, before: string[] = []): string[] => [...before, read(subject)]
}

/** `s3://…`, or a folder. As `file:` and its path, or as it is. */
export function readPlace(text: string): string {
  if (text.startsWith('s3://')) {
    if (URL.canParse(text)) return text
    throw new InvalidArgumentError('Write an S3 store as s3://bucket/prefix?endpoint=https://host')
  }
  if (/^[a-z0-9]+:\/\//i.test(text)) throw new InvalidArgumentError('Give a folder or s3://…')
  const path = text.replace(/^file:/, '')
  return path === '' ? 'file:' : `file:${resolve(path)}`
}

/** Unit: bytes a second. */
export function rateOption(): Option {
  return new Option('--rate <MB/s>', 'read no faster than this').argParser((text) => {
    const megabytes = Number(text)
    if (!(megabytes > 0)) throw new InvalidArgumentError('A rate is a number of MB a second.')
    return megabytes * 1e6
  })
}

export function limitOption(): Option {
  return new Option('--limit <number>', 'list at most this many').default(100).argParser((text) => {
    if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A limit is a whole number.')
    return Number(text)
  })
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory().argParser((text) => {
    if (text.trim() === '') throw new InvalidArgumentError('Give a reason.')
    return text
  })
}

export function ruleOption(): Option {
  return new Option('--rule <code>', 'the rule that was broken; it is recorded').argParser((text) => {
    if (RULE_PATTERN.test(text)) return text
    throw new InvalidArgumentError('A rule is lower-case letters, digits and hyphens, e.g. copyright.')
  })
}

/** The account that runs the command. */
export function actedBy({ rule }: { rule?: string } = {}): Actor {
  return { who: accountOf(), ...(rule === undefined ? {} : { rule }) }
}

/** `name@host`. Containers run under numbers that no file of theirs has a name for: then the number. */
export function accountOf(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.()}@${hostname()}`
  }
}
