import { InvalidArgumentError, Option } from 'commander'
import { DEFAULT_RETRIES } from '../client/api/retry.ts'
import { MODES, type Mode } from '../client/types.ts'
import { LIFETIMES, lifetimeOf } from '../lifetimes.ts'

/** What `pinhole upload` was told. */
export interface UploadFlags {
  server?: string
  mode: Mode
  convert: boolean
  jobs: number
  retries: number
  /** Seconds. */
  expires?: number
  recursive?: true
  watch?: string
  json?: true
  copy?: true
  again?: true
  history: boolean
}

export function modeOption(): Option {
  return new Option('-m, --mode <mode>', 'how much may change: best size, same type, same pixels, or nothing')
    .choices([...MODES])
    .default('auto')
}

/** Sets `convert` to false. */
export function convertOption(): Option {
  return new Option('--no-convert', 'refuse HEIC and JPEG XL instead of making JPEG or WebP of them')
}

/** Its value is in seconds. */
export function expiresOption(): Option {
  const names = Object.keys(LIFETIMES).join(', ')
  return new Option('-e, --expires <time>', `how long the pictures stay: ${names}, or seconds`).argParser(
    (text) => {
      const seconds = lifetimeOf(text)
      if (seconds !== null) return seconds
      throw new InvalidArgumentError(`It must be one of ${names}, or seconds from 60 to a year.`)
    },
  )
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 999.')
  return Number(text)
}

function countOf(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a number from 0 to 999.')
  return Number(text)
}

export function retriesOption(): Option {
  return new Option('--retries <number>', 'tries after the first one, when network or service fail')
    .argParser(countOf)
    .default(DEFAULT_RETRIES)
}
