/** How honest clients fare when many arrive simultaneously, or are slow. Reads are compared with Caddy. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startCaddy, startPinhole } from '../contestants/contestants.ts'
import { bodyOf, upload as store } from '../load/multipart.ts'
import { noisePicture, noisePictures } from '../load/pictures.ts'
import { probe } from '../load/timed-get.ts'
import { type BenchOptions, type Figures, table, verdict } from '../report/figures.ts'
import { percentile, summarize } from '../report/statistics.ts'
import { concurrentUploadRows, fullAddressesRow } from './concurrent-uploads.ts'
import type { Order, Picture, Seen } from './crowd.ts'
import { hangingStoreRow, killedWorkerRow } from './faults.ts'
import { ask, type Sender, uploadHead, uploadSlowly } from './uploads.ts'

/** A row of the table. `caddy`: only for reads. */
export interface Row {
  client: string
  ours: string
  caddy?: string
  demanded: string
  isMet: boolean
}

const PEOPLE = 100
const GALLERY = 12

/** Crowds per row. Each yields one percentile, of about 80 requests. */
const ROUNDS = 7
const PICTURE_BYTES = 200_000

/** A visit takes a second or two. With fewer requests, the percentile would be the slowest one. */
const PROBE_EVERY_MS = 7.5

const PHONE_BYTES = 300_000
const PHONE_BYTES_PER_SECOND = 3000

export async function benchCrowds({ dir }: BenchOptions): Promise<Figures> {
  const rows: Row[] = []
  const files = path.join(dir, 'files')
  await mkdir(files, { recursive: true })
  const pinhole = await startPinhole(path.join(dir, 'pinhole'))
  const servers = [pinhole]
  try {
    const gallery: Picture[] = []
    for (const picture of await noisePictures(GALLERY, PICTURE_BYTES)) {
      const id = await store(pinhole.url, picture)
      const bytes = await (await fetch(`${pinhole.url}/raw/${id}`)).bytes()
      await writeFile(path.join(files, id), bytes)
      gallery.push({ path: `/raw/${id}`, bytes: bytes.length })
    }
    const caddy = await startCaddy(dir)
    servers.push(caddy)
    rows.push(...(await galleryRows(pinhole, caddy, gallery)))
    const at = (from: string): Sender => ({ url: pinhole.url, from })
    rows.push(await phoneRow(at('127.0.4.1')))
    rows.push(await halfClosedRow(at('127.0.4.2'), caddy, gallery[0]!))
    rows.push(await tooLargeRow(at('127.0.4.3')))
    rows.push(...(await concurrentUploadRows(dir)))
    rows.push(await fullAddressesRow(dir))
  } finally {
    for (const server of servers) await server.stop()
  }
  rows.push(await killedWorkerRow(dir))
  rows.push(await hangingStoreRow(dir))
  const cells = rows.map(({ client, ours, caddy = '', demanded, isMet }) => [
    client,
    ours,
    caddy,
    `${demanded}: ${verdict(isMet)}`,
  ])
  return { table: table(['honest client', 'ours', 'Caddy', 'demanded'], cells) }
}

async function galleryRows(pinhole: Child, caddy: Child, gallery: Picture[]): Promise<Row[]> {
  const rows: Row[] = []
  const people = fork(path.join(import.meta.dirname, 'crowd.ts'))
  people.once('exit', (code) => {
    if (code !== 0) throw new Error('the crowd died')
  })
  let addresses = 0
  async function crowd(server: Child, groups: number, retries: boolean): Promise<CrowdSeen> {
    const end = new AbortController()
    const others = probe(server.url + gallery[0]!.path, end.signal, PROBE_EVERY_MS)
    const order: Order = {
      url: server.url,
      from: `127.0.3.${++addresses}`,
      pictures: gallery,
      people: PEOPLE,
      groups,
      retries,
    }
    people.send(order)
    const [seen]: [Seen] = (await once(people, 'message')) as [Seen]
    end.abort()
    const p99 = percentile(await others, 0.99)
    return { ...seen, p99, peak: server.memory().peak }
  }
  // The first crowd meets a cold server, so it has a separate row without a bound on latency.
  for (const [label, groups, rounds] of [
    [', the first of a fresh server', 1, 1],
    ['', 1, ROUNDS],
    [', in five groups that stay', 5, 3],
  ] as const) {
    for (const retries of rounds === 1 ? [true] : [true, false]) {
      const seen: Record<'ours' | 'theirs', CrowdSeen[]> = { ours: [], theirs: [] }
      for (let round = 0; round < rounds; round++) {
        seen.theirs.push(await crowd(caddy, groups, retries))
        seen.ours.push(await crowd(pinhole, groups, retries))
      }
      const ours = summaryOf(seen.ours)
      rows.push({
        client: `${PEOPLE} people${label}${retries ? '' : ', no request again'}`,
        ours: ours.text,
        caddy: summaryOf(seen.theirs).text,
        demanded: `${retries ? '0 broken, ' : ''}${rounds === 1 ? '' : '100 ms, '}250 MB`,
        isMet: (!retries || ours.broken === 0) && (rounds === 1 || ours.p99 <= 100) && ours.peak <= 250,
      })
      console.error(`  ${Object.values(rows.at(-1)!).join(' | ')}`)
    }
  }
  people.disconnect()
  return rows
}

type CrowdSeen = Seen & { p99: number; peak: number }

/** Over all rounds: the median of the 99th percentile, and the maximum of everything else. */
function summaryOf(rounds: CrowdSeen[]): { broken: number; p99: number; peak: number; text: string } {
  const broken = Math.max(...rounds.map((seen) => seen.broken))
  const peak = Math.max(...rounds.map((seen) => seen.peak))
  const p99 = summarize(rounds.map((seen) => seen.p99)).median
  const outcomes = new Set(rounds.flatMap((seen) => seen.outcomes))
  const why = outcomes.size > 0 ? ` (${[...outcomes].join(', ')})` : ''
  return { broken, p99, peak, text: `${broken} broken${why}, ${p99.toFixed(0)} ms, ${peak.toFixed(0)} MB` }
}

async function phoneRow(sender: Sender): Promise<Row> {
  const picture = await noisePicture(PHONE_BYTES)
  const { status, tookMs } = await uploadSlowly(sender, picture, PHONE_BYTES_PER_SECOND)
  return {
    client: `a picture of ${Math.round(picture.length / 1000)} kB at ${PHONE_BYTES_PER_SECOND / 1000} kB/s`,
    ours: `${status} after ${(tookMs / 1000).toFixed(0)} s`,
    demanded: '201',
    isMet: status === 201,
  }
}

async function halfClosedRow(sender: Sender, caddy: Child, picture: Picture): Promise<Row> {
  const [bytes] = await noisePictures(1, 20_000)
  const body = bodyOf(bytes!)
  const sent = await ask(
    sender,
    (socket) => void socket.end(Buffer.concat([Buffer.from(uploadHead(body.length)), body])),
  )
  const get = `GET ${picture.path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const [ours, theirs] = await Promise.all(
    [sender, { ...sender, url: caddy.url }].map((to) => ask(to, (socket) => void socket.end(get))),
  )
  return {
    client: 'an upload and a GET, half-closed',
    ours: `${sent.status} and ${ours!.status}`,
    caddy: `${theirs!.status}`,
    demanded: '201 and 200',
    isMet: sent.status === 201 && ours!.status === 200,
  }
}

async function tooLargeRow(sender: Sender): Promise<Row> {
  const seen: { text: string; isMet: boolean }[] = []
  for (const expect of ['Expect: 100-continue\r\n', '']) {
    const { status, headers, tookMs } = await ask(
      sender,
      (socket) => void socket.write(uploadHead(60_000_000, expect)),
    )
    seen.push({
      text: `${status} after ${tookMs.toFixed(0)} ms`,
      isMet: status === 413 && tookMs <= 100 && headers.has('X-RateLimit-Remaining'),
    })
  }
  return {
    client: '60 MB announced, with Expect and without',
    ours: seen.map(({ text }) => text).join(', '),
    demanded: '413 with X-RateLimit within 100 ms',
    isMet: seen.every(({ isMet }) => isMet),
  }
}
