/** Preload for a server (`--import`): its second worker creates the file LATE_WORKER, and listens once the file is removed. */
import cluster from 'node:cluster'
import { existsSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'

const { LATE_WORKER: file = '' } = process.env
const { listen } = Server.prototype
if (cluster.worker?.id === 2) {
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    writeFileSync(file, '')
    const timer = setInterval(() => {
      if (existsSync(file)) return
      clearInterval(timer)
      listen.apply(this, args as never)
    }, 10)
    Server.prototype.listen = listen
    return this
  }
}
