/** operator login */
import { hostname, userInfo } from 'node:os'
import { Command } from 'commander'
import { createDoor } from '../../../service/door.ts'
import { doorSocket } from '../../door/socket.ts'
import { doorUrl } from '../../door/url.ts'
import { nodeHashes } from '../../hashes.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

export function loginCommand(): Command {
  return new Command('login')
    .description('print a link to the operator’s door that works once, for ten minutes')
    .action(() =>
      onData(async ({ config, stores }) => {
        const door = createDoor({
          ledger: stores.ledger,
          hashes: nodeHashes,
          now: stores.clock.now,
          programToken: null,
        })
        const token = await door.invite(`${userInfo().username}@${hostname()}`)
        print(`${doorUrl(config)}/login?token=${token}`)
        if (config.operatorListen.kind === 'socket') {
          process.stderr.write(
            `The door is the socket ${doorSocket(config)}. OPERATOR_LISTEN=127.0.0.1:3001 opens it to a browser.\n`,
          )
        }
        return 0
      }),
    )
}
