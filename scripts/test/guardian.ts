/**
 * Outlives a run of tests, however that ends, and then leaves nothing of it: no process, no temporary file. It is a session
 * of its own, and learns of the end by its standard input, which closes even with `kill -9`. Its word: the run's folder.
 */
import { sweep } from './processes.ts'

const [folder] = process.argv.slice(2)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.on('close', () => void sweep(folder!)).resume()
