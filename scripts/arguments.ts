/** Parses a script's command line. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Prints the usage and exits for `--help`, and for unknown options with an error. */
export function readArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes('--help')) {
    console.log(`usage: ${usage}`)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: ${usage}`)
    process.exit(2)
  }
}
