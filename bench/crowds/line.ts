/** Uploads of one address at once, and of many addresses at their limits. */
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
const UNDER_WAY = 16
/** Nearly as much as a draft may be in memory. */
const HELD_BYTES = 250_000
const MAX_MEGABYTES = 350
const MAX_LEFT = 1.3
const HOLD_SECONDS = 5
const REST_SECONDS = 60

/** As many as a day allows; and more, some of them aborted, which must not count. */
export async function lineRows(dir: string): Promise<Row[]> {
  const picture = await noisePicture(20_000)
  const server = await startPinhole(path.join(dir, 'line'))
  try {
    const rows: Row[] = []
    for (const [count, aborted] of [
      [PER_DAY, 0],
      [TOO_MANY, ABORTED],
    ] as const) {
      const who: Sender = { url: server.url, from: `127.0.5.${rows.length + 1}` }
      const gone = Promise.all(Array.from({ length: aborted }, () => abort(who, picture)))
      const sent = await Promise.all(Array.from({ length: count }, () => upload(who, picture)))
      await gone
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

/** Uploads that are under way on as many connections as may be, each nearly whole. */
export async function fullAddressesRow(dir: string): Promise<Row> {
  const picture = await noisePicture(HELD_BYTES)
  const body = bodyOf(picture)
  const head = Buffer.from(uploadHead(body.length))
  const server = await startPinhole(path.join(dir, 'full'))
  try {
    await upload({ url: server.url, from: '127.0.6.1' }, picture)
    const before = server.memory().resident
    const sockets = []
    for (let nth = 0; nth < ADDRESSES; nth++) {
      const from = `127.0.${7 + (nth >> 7)}.${1 + (nth & 127)}`
      const opened = await Promise.all(
        Array.from({ length: UNDER_WAY }, () => open({ url: server.url, from }).catch(() => null)),
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
      client: `${ADDRESSES} addresses with ${UNDER_WAY} uploads each under way, ${sockets.length} connections`,
      ours: `${before.toFixed(0)} → ${peak.toFixed(0)} MB; ${left.toFixed(0)} MB a minute after`,
      demanded: `${MAX_MEGABYTES} MB, ${MAX_LEFT} × a minute after`,
      isMet: peak <= MAX_MEGABYTES && left <= before * MAX_LEFT,
    }
  } finally {
    await server.stop()
  }
}
