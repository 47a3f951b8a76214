/**
 * The operator's commands, on the data of a running server: at once effective in every process.
 *
 *     npm run operator -- --help
 */
import { runOperator } from './operator/program.ts'

process.exitCode = await runOperator(process.argv.slice(2))
