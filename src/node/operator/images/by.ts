/** The operator who acts, and under which rule. */
import { InvalidArgumentError, Option } from 'commander'
import type { Actor } from '../../../stores/ledger.ts'
import { accountOf } from '../account.ts'

export function ruleOption(): Option {
  return new Option('--rule <code>', 'the rule that was broken; it is recorded').argParser((text) => {
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(text))
      throw new InvalidArgumentError('A rule is lower-case letters, digits and hyphens, e.g. copyright.')
    return text
  })
}

/** The account that runs the command. */
export function actedBy({ rule }: { rule?: string } = {}): Actor {
  return { who: accountOf(), ...(rule === undefined ? {} : { rule }) }
}
