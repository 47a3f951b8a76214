/** One attack, in a process of its own. Prints what it sent. */
import { getPriority, setPriority } from 'node:os'
import type { Attack } from '../../test/support/attack/connection.ts'
import type { Target } from '../../test/support/attack/targets.ts'
import { WAYS } from '../../test/support/attack/ways.ts'

export interface Order {
  way: string
  target: Target
  port: number
  from: string
  seconds: number
}

// It shares the processors with the server: that it works is no cost of the server's.
setPriority(getPriority() + 10)
const { way, target, port, from, seconds }: Order = JSON.parse(process.argv[2]!)
const until = performance.now() + seconds * 1000
const attack: Attack = {
  host: '127.0.0.1',
  port,
  from,
  isOver: () => performance.now() > until,
  sent: { bytes: 0, connections: 0 },
}
await WAYS.find(({ name }) => name === way)!.run(attack, target)
process.stdout.write(JSON.stringify(attack.sent), () => process.exit(0))
