/**
 * The child process of `ledger-process.ts`: opens the ledger, runs the calls of each message concurrently, and sends back their
 * outcomes.
 */
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import type { Call, LedgerAddress, Outcome } from './ledger-process.ts'

const address = JSON.parse(process.argv[2]!) as LedgerAddress
const ledger =
  'file' in address ? await openSqliteLedger({ file: address.file }) : await openPostgresLedger(address)

process.on('message', async (calls: Call[]) => {
  const outcomes = await Promise.all(calls.map(outcomeOf))
  process.send!(outcomes)
})
process.on('disconnect', () => ledger.close())
process.send!('ready')

async function outcomeOf([method, ...args]: Call): Promise<Outcome> {
  try {
    return { value: await (ledger[method] as (...args: unknown[]) => Promise<unknown>)(...args) }
  } catch (error) {
    return { error: `${error} ${(error as Error).cause ?? ''}` }
  }
}
