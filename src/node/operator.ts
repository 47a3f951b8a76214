/**
 * The operator's commands, on the data of a running server. They take effect in all processes immediately.
 *
 *     npm run operator -- --help
 */
import { runOperator } from './operator/program.ts'

process.exitCode = await runOperator(process.argv.slice(2))
