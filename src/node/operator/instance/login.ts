/** operator login */
import { Command } from 'commander'
import { adminSocket, adminUrl } from '../../admin/address.ts'
import { accountOf } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

export const loginCommand = new Command('login')
  .description('print a sign-in link to the admin server, valid once and for ten minutes')
  .action(
    onData(async ({ config, sessions }) => {
      if (config.operatorListen.kind === 'off' && config.operatorUrl === null)
        throw new Error('OPERATOR_LISTEN=off: there is no admin server to sign in to')
      const token = await sessions.createLoginToken(accountOf())
      const path = `/login?token=${token}`
      if (config.operatorListen.kind !== 'socket' || config.operatorUrl !== null) {
        print(adminUrl(config) + path)
        return
      }
      process.stderr.write(
        `The admin server listens on the socket ${adminSocket(config)}. Set OPERATOR_LISTEN=127.0.0.1:3001 to reach it from a browser, or open this path through a tunnel to the socket:\n`,
      )
      print(path)
    }),
  )
