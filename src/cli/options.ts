import { InvalidArgumentError, Option } from 'commander'
import { DEFAULT_RETRIES } from '../client/api/retry.ts'
import { MODES, type Mode } from '../client/types.ts'
import { ACCEPTED_LIFETIMES, LIFETIMES, lifetimeOf } from '../lifetimes.ts'

/** Options of `pinhole upload`. */
export interface UploadFlags {
  server?: string
  mode: Mode
  convert: boolean
  jobs: number
  retries: number
  /** Unit: seconds. */
  expires?: number
  recursive?: true
  watch?: string
  json?: true
  copy?: true
  again?: true
  history: boolean
}

export function modeOption(): Option {
  return new Option(
    '-m, --mode <mode>',
    'how to compress: smallest size, same type, identical pixels, or not at all',
  )
    .choices([...MODES])
    .default('auto')
}

/** Sets `convert` to false. */
export function convertOption(): Option {
  return new Option('--no-convert', 'refuse HEIC and JPEG XL instead of converting them to JPEG or WebP')
}

/** The value is in seconds. */
export function expiresOption(): Option {
  const names = Object.keys(LIFETIMES).join(', ')
  return new Option('-e, --expires <time>', `lifetime of the images: ${names}, or seconds`).argParser(
    (text) => {
      const seconds = lifetimeOf(text)
      if (seconds !== null) return seconds
      throw new InvalidArgumentError(`Use ${ACCEPTED_LIFETIMES}.`)
    },
  )
}

/** Parses a whole number from `least` to 999. */
export function integerFrom(least: number) {
  return (text: string): number => {
    if (/^\d{1,3}$/.test(text) && Number(text) >= least) return Number(text)
    throw new InvalidArgumentError(`Use a number from ${least} to 999.`)
  }
}

export function retriesOption(): Option {
  return new Option('--retries <number>', 'retries if the network or the service fails')
    .argParser(integerFrom(0))
    .default(DEFAULT_RETRIES)
}
