/** The attacker, in a process of its own: told what to do, and says what it sent. */
import { getPriority, setPriority } from 'node:os'
import type { Attack } from '../../test/support/attack/connection.ts'
import type { Target } from '../../test/support/attack/targets.ts'
import { WAYS } from '../../test/support/attack/ways.ts'

export interface Order extends Pick<Attack, 'port' | 'adminPath' | 'from'> {
  way: string
  target: Target
  seconds: number
}

// It shares the processors with the server: that it works is no cost of the server's.
setPriority(Math.min(19, getPriority() + 10))
process.on('message', async ({ way, target, seconds, ...where }: Order) => {
  const until = performance.now() + seconds * 1000
  const attack: Attack = {
    ...where,
    isOver: () => performance.now() > until,
    sent: { bytes: 0, connections: 0 },
  }
  await WAYS.find(({ name }) => name === way)!.run(attack, target)
  process.send!(attack.sent)
})
