/** Concurrent uploads from one address, and from many addresses at their limits. */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPinhole } from '../contestants/contestants.ts'
import { bodyOf } from '../load/multipart.ts'
import { noisePicture } from '../load/pictures.ts'
import type { Row } from './crowds.ts'
import { abort, countsOf, open, type Sender, upload, uploadHead } from './uploads.ts'

const PER_DAY = 100
const TOO_MANY = 150
const ABORTED = 10

const ADDRESSES = 250
const UPLOADS_PER_ADDRESS = 16
/** Nearly the limit for a draft in memory. */
const DRAFT_BYTES = 250_000
const MAX_MEGABYTES = 350
const MAX_GROWTH = 1.3
const HOLD_SECONDS = 5
const REST_SECONDS = 60

/** As many uploads as the daily quota allows; and more, some of them aborted, which must not count. */
export async function concurrentUploadRows(dir: string): Promise<Row[]> {
  const picture = await noisePicture(20_000)
  const server = await startPinhole(path.join(dir, 'line'))
  try {
    const rows: Row[] = []
    for (const [count, aborted] of [
      [PER_DAY, 0],
      [TOO_MANY, ABORTED],
    ] as const) {
      const sender: Sender = { url: server.url, from: `127.0.5.${rows.length + 1}` }
      const aborting = Promise.all(Array.from({ length: aborted }, () => abort(sender, picture)))
      const sent = await Promise.all(Array.from({ length: count }, () => upload(sender, picture)))
      await aborting
      const ours = countsOf(sent)
      const demanded = `${PER_DAY} × 201${count > PER_DAY ? `, ${count - PER_DAY} × 429` : ''}`
      rows.push({
        client: `${count} uploads at once of one address${aborted > 0 ? `, and ${aborted} aborted` : ''}`,
        ours,
        demanded,
        isMet: ours === demanded,
      })
    }
    return rows
  } finally {
    await server.stop()
  }
}

/** Nearly complete uploads in flight on as many connections as allowed. */
export async function fullAddressesRow(dir: string): Promise<Row> {
  const picture = await noisePicture(DRAFT_BYTES)
  const body = bodyOf(picture)
  const head = Buffer.from(uploadHead(body.length))
  const server = await startPinhole(path.join(dir, 'full'))
  try {
    await upload({ url: server.url, from: '127.0.6.1' }, picture)
    const before = server.memory().resident
    const sockets = []
    for (let address = 0; address < ADDRESSES; address++) {
      const from = `127.0.${7 + (address >> 7)}.${1 + (address & 127)}`
      const opened = await Promise.all(
        Array.from({ length: UPLOADS_PER_ADDRESS }, () => open({ url: server.url, from }).catch(() => null)),
      )
      for (const socket of opened) {
        if (socket === null) continue
        socket.resume()
        socket.write(Buffer.concat([head, body.subarray(0, body.length - 100)]))
        sockets.push(socket)
      }
    }
    await sleep(HOLD_SECONDS * 1000)
    const { peak } = server.memory()
    for (const socket of sockets) socket.destroy()
    await sleep(REST_SECONDS * 1000)
    const left = server.memory().resident
    return {
      client: `${ADDRESSES} addresses with ${UPLOADS_PER_ADDRESS} uploads each under way, ${sockets.length} connections`,
      ours: `${before.toFixed(0)} → ${peak.toFixed(0)} MB; ${left.toFixed(0)} MB a minute after`,
      demanded: `${MAX_MEGABYTES} MB, ${MAX_GROWTH} × a minute after`,
      isMet: peak <= MAX_MEGABYTES && left <= before * MAX_GROWTH,
    }
  } finally {
    await server.stop()
  }
}
