/**
 * Slow clients, in a separate process. Arguments: the server's address, number of clients, rate in bytes per second, duration
 * of the slow phase in seconds, and the files to upload. After the slow phase, the clients send the rest as fast as the server
 * accepts it. Sends the message `hurrying` then, and a `TrickleReport` at the end.
 */
import { readFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { BOUNDARY, multipartHead, multipartTail } from '../load/multipart.ts'

export interface TrickleReport {
  stored: number
  /** Other statuses, and errors. */
  failures: string[]
}

const STEP_MS = 100
const HURRY_BYTES = 256 * 1024

const [baseUrl, count, pace, slowSeconds, ...files] = process.argv.slice(2)
const pictures = files.map((file) => readFileSync(file))
const stepBytes = (Number(pace) * STEP_MS) / 1000
const report: TrickleReport = { stored: 0, failures: [] }
let isHurrying = false

async function send(picture: Buffer, upload: ClientRequest): Promise<void> {
  upload.write(multipartHead('large'))
  for (let at = 0; at < picture.length; ) {
    const bytes = isHurrying ? HURRY_BYTES : stepBytes
    const hasCapacity = upload.write(picture.subarray(at, at + bytes))
    at += bytes
    if (!hasCapacity) await new Promise((resolve) => upload.once('drain', resolve))
    if (!isHurrying) await sleep(STEP_MS)
  }
  upload.end(multipartTail)
}

/** `address`: distinct per client, because the server limits the concurrent uploads of one address to sixteen. */
function client(picture: Buffer, address: string): Promise<void> {
  return new Promise((resolve) => {
    const upload = request(`${baseUrl}/api/upload`, {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
        'X-Forwarded-For': address,
        'Content-Length': multipartHead('large').length + picture.length + multipartTail.length,
      },
    })
    upload.on('response', (response) => {
      if (response.statusCode === 201) report.stored++
      else report.failures.push(String(response.statusCode))
      response.resume().on('close', resolve)
    })
    upload.on('error', (error) => {
      report.failures.push(error.message)
      resolve()
    })
    send(picture, upload)
  })
}

const clients: Promise<void>[] = []
for (let i = 0; i < Number(count); i++) {
  clients.push(client(pictures[i % pictures.length]!, `198.${i >> 8}.${i & 255}.1`))
  // Stagger the clients, so that their writes do not coincide.
  await sleep(STEP_MS / 10)
}
const timer = setTimeout(() => {
  isHurrying = true
  process.send?.('hurrying')
}, Number(slowSeconds) * 1000)
await Promise.all(clients)
clearTimeout(timer)
process.send?.(report)
process.disconnect?.()
