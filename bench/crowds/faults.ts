/** What clients experience when a worker is killed, or when S3 hangs. */
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, descriptors } from '../../test/support/attack/process-costs.ts'
import { s3Env } from '../../test/support/processes/cluster.ts'
import { startFakeS3 } from '../../test/support/s3/fake-s3.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { noisePicture } from '../load/pictures.ts'
import type { Row } from './crowds.ts'

const CLIENTS = 64
const KILLS = 5
/** Time between two kills, enough for the next worker to start. */
const INTERVAL_MS = 2500
/** A client that waits this long is considered stuck. */
const STUCK_MS = 10_000

const MAX_VIEW_MS = 5000

export async function killedWorkerRow(dir: string): Promise<Row> {
  const log = path.join(dir, 'workers', 'pinhole.log')
  const server = await startPinhole(path.dirname(log), { WORKERS: '2', CONNECTIONS_PER_ADDRESS: '0' })
  try {
    const picture = await noisePicture(10_000)
    const url = `${server.url}/raw/${await upload(server.url, picture)}`
    // The server answers once one worker is ready, but logs its address only when all are.
    while (!readFileSync(log, 'utf8').includes('Pinhole is at')) await sleep(50)
    const before = descriptors(server.pid)
    const seen = { answered: 0, lost: 0, waiting: 0 }
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) seen[await outcomeOf(url)]++
    })
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(INTERVAL_MS)
      process.kill(childrenOf(server.pid)![0]!, 'SIGKILL')
    }
    await sleep(INTERVAL_MS)
    isOver = true
    await Promise.all(clients)
    await sleep(500)
    const left = Math.max(0, descriptors(server.pid) - before)
    const asked = seen.answered + seen.lost + seen.waiting
    return {
      client: `a worker of two killed ${KILLS} times under ${CLIENTS} clients`,
      ours: `${seen.waiting} wait for ever, ${left} descriptors left, ${seen.lost} of ${asked.toLocaleString('en')} lost`,
      demanded: '0 wait, 0 left',
      isMet: seen.waiting === 0 && left === 0,
    }
  } finally {
    await server.stop()
  }
}

function outcomeOf(url: string): Promise<'answered' | 'lost' | 'waiting'> {
  return new Promise((resolve) => {
    const outgoing = get(url, { agent: false, timeout: STUCK_MS }, (response) =>
      response
        .resume()
        .on('end', () => resolve('answered'))
        .on('error', () => resolve('lost')),
    )
    outgoing.on('timeout', () => {
      resolve('waiting')
      outgoing.destroy()
    })
    outgoing.on('error', () => resolve('lost'))
  })
}

export async function hangingStoreRow(dir: string): Promise<Row> {
  const fake = await startFakeS3()
  const server = await startPinhole(path.join(dir, 's3'), s3Env(fake, 'crowds'))
  try {
    const picture = await noisePicture(10_000)
    const id = await upload(server.url, picture)
    fake.faults.add({ kind: 'hang' }, { on: ({ method }) => method === 'GET', times: 1e6 })
    const took: number[] = []
    for (const address of [`/raw/${id}`, `/${id}`]) {
      const since = performance.now()
      await (await fetch(server.url + address)).bytes()
      took.push(performance.now() - since)
    }
    const text = took.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' and ')
    return {
      client: 'bytes and page of an image, from S3 that hangs',
      ours: text,
      demanded: 'within 5 s',
      isMet: took.every((ms) => ms <= MAX_VIEW_MS),
    }
  } finally {
    fake.faults.clear()
    await server.stop()
    await fake.close()
  }
}
