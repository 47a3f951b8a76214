/** Runs attacks in a separate process: receives orders as messages, and replies with the amount of data sent. */
import { getPriority, setPriority } from 'node:os'
import type { Attack } from '../../test/support/attack/connection.ts'
import type { Target } from '../../test/support/attack/targets.ts'
import { WAYS } from '../../test/support/attack/ways.ts'

export interface Order extends Pick<Attack, 'port' | 'adminPath' | 'from'> {
  way: string
  target: Target
  seconds: number
}

// Lower the priority: the attacker shares the cores with the server, but its work should not slow the server down.
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
