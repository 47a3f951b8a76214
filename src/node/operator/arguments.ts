/** Arguments and options shared by several commands, and the account to record in the audit log. */
import { hostname, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { idIn } from '../../service/images/ids.ts'
import { RULE_PATTERN } from '../../service/moderation/report-categories.ts'
import type { Actor } from '../../stores/ledger.ts'

/** An ID, or an address that ends with one. */
export function readId(subject: string): string {
  const id = idIn(subject)
  if (id === null) throw new InvalidArgumentError(`"${subject}" is not an image ID.`)
  return id
}

/** A SHA-256 digest in hex. */
export function readDigest(subject: string): string {
  const digest = subject.toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digest))
    throw new InvalidArgumentError(`"${subject}" is not a SHA-256 digest in hex.`)
  return digest
}

/** Parser for a variadic argument. */
export function variadic(read: (subject: string) => string) {
  return (subject: string, before: string[] = []): string[] => [...before, read(subject)]
}

/** `s3://…` or a folder. Returns `s3://…` unchanged, and a folder as `file:` and its absolute path. */
export function readLocation(text: string): string {
  if (text.startsWith('s3://')) {
    if (URL.canParse(text)) return text
    throw new InvalidArgumentError('An S3 store has the form s3://bucket/prefix?endpoint=https://host')
  }
  if (/^[a-z0-9]+:\/\//i.test(text)) throw new InvalidArgumentError('Expected a folder or s3://…')
  const path = text.replace(/^file:/, '')
  return path === '' ? 'file:' : `file:${resolve(path)}`
}

/** Unit: bytes a second. */
export function rateOption(): Option {
  return new Option('--rate <MB/s>', 'limit the read rate').argParser((text) => {
    const megabytes = Number(text)
    if (!(megabytes > 0)) throw new InvalidArgumentError('The rate must be a number of MB per second.')
    return megabytes * 1e6
  })
}

export function limitOption(): Option {
  return new Option('--limit <number>', 'maximum number of entries to list')
    .default(100)
    .argParser((text) => {
      if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('The limit must be a whole number.')
      return Number(text)
    })
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'reason, recorded in the audit log')
    .makeOptionMandatory()
    .argParser((text) => {
      if (text.trim() === '') throw new InvalidArgumentError('The reason must not be empty.')
      return text
    })
}

export function ruleOption(): Option {
  return new Option('--rule <code>', 'the rule that was violated, recorded in the audit log').argParser(
    (text) => {
      if (RULE_PATTERN.test(text)) return text
      throw new InvalidArgumentError(
        'A rule consists of lower-case letters, digits and hyphens, e.g. copyright.',
      )
    },
  )
}

/** The account that runs the command, as the actor of an audit entry. */
export function currentActor({ rule }: { rule?: string } = {}): Actor {
  return { who: accountOf(), ...(rule === undefined ? {} : { rule }) }
}

/** `name@host`. A container's user may have no name: then its number. */
export function accountOf(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.()}@${hostname()}`
  }
}
