/** Users who upload from the command line, and their service. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { cameraJpeg } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { newUser, type User } from './command.ts'

export interface Uploads {
  server: RunningServer
  /** Content of `photo.jpg`. */
  jpeg: Buffer
  /** A new user with `photo.jpg`, and with `small.gif`, which can't be compressed. */
  uploader(): Promise<User>
  /** The image behind a link, or the status of the response. */
  bytesOf(link: string): Promise<Buffer | number>
}

/** Starts a service before the tests of a file, and stops it after them. */
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
      const user = await newUser({ PINHOLE_SERVER: server.url })
      await writeFile(join(user.folder, 'photo.jpg'), jpeg)
      await writeFile(join(user.folder, 'small.gif'), gif())
      return user
    },
    async bytesOf(link) {
      const response = await fetch(link.replace(/\/([0-9A-Za-z]+)$/, '/raw/$1'))
      return response.ok ? Buffer.from(await response.arrayBuffer()) : response.status
    },
  }
}
