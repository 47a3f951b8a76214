/**
 * Outlives a test run, however it ends, and then removes its processes and temporary files. Runs in its own session, and
 * detects the end by its standard input, which closes even on `kill -9`. Argument: the run's folder.
 */
import { sweep } from './processes.ts'

const [folder] = process.argv.slice(2)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.on('close', () => void sweep(folder!)).resume()
