/** Somebody who uploads from the command line, and the service that they upload to. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { cameraJpeg } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { type Person, person } from './command.ts'

export interface Uploads {
  server: RunningServer
  /** What is in `photo.jpg`. */
  jpeg: Buffer
  /** Somebody with `photo.jpg`, and `small.gif`, at which there is nothing to compress. */
  uploader(): Promise<Person>
  /** What a link leads to, or the status of the answer. */
  bytesOf(link: string): Promise<Buffer | number>
}

/** Starts the service before the tests of a file, and stops it after them. */
export function uploads(): Uploads {
  let server: RunningServer
  let jpeg: Buffer
  before(async () => {
    server = await startServer()
    jpeg = await cameraJpeg(320, 240)
  })
  after(() => server?.stop())
  return {
    get server() {
      return server
    },
    get jpeg() {
      return jpeg
    },
    async uploader() {
      const someone = await person({ PINHOLE_SERVER: server.url })
      await writeFile(join(someone.folder, 'photo.jpg'), jpeg)
      await writeFile(join(someone.folder, 'small.gif'), gif())
      return someone
    },
    async bytesOf(link) {
      const response = await fetch(link.replace(/\/([0-9A-Za-z]+)$/, '/raw/$1'))
      return response.ok ? Buffer.from(await response.arrayBuffer()) : response.status
    },
  }
}
