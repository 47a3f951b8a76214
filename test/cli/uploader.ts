/** A service, and users who upload to it from the command line. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { cameraJpeg } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'
import { newUser, type User } from './command.ts'

export const server = await startServer()
after(() => server.stop())

/** Content of `photo.jpg`. */
export const jpeg = await cameraJpeg(320, 240)

/** A new user with `photo.jpg`, and with `small.gif`, which can't be compressed. */
export async function uploader(): Promise<User> {
  const user = await newUser({ PINHOLE_SERVER: server.url })
  await writeFile(join(user.folder, 'photo.jpg'), jpeg)
  await writeFile(join(user.folder, 'small.gif'), gif())
  return user
}

/** The image behind a link, or the status of the response. */
export async function bytesOf(link: string): Promise<Buffer | number> {
  const response = await fetch(link.replace(/\/([0-9A-Za-z]+)$/, '/raw/$1'))
  return response.ok ? Buffer.from(await response.arrayBuffer()) : response.status
}
