/** What a script is told on its command line. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** `--help` ends the script with its usage, and so do options it does not have. */
export function readWords<T extends ParseArgsConfig>(
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
