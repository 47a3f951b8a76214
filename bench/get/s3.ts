/** Reads from S3: CPU time, and time to first byte compared with the gateway's. */
import { Agent } from 'node:http'
import path from 'node:path'
import { AwsClient } from 'aws4fetch'
import { type ClusterServices, startClusterServices } from '../cluster/services.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { LARGE, MEDIUM, noisePicture, SMALL } from '../load/pictures.ts'
import { processorTime } from '../load/processors.ts'
import { timedGet } from '../load/timed-get.ts'
import { wrk } from '../load/wrk.ts'
import type { BenchOptions, Comparison, Figures, Measure } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'

const PREFIX = 'reads'
const CONNECTIONS = 8
const SIZES = [SMALL, MEDIUM, LARGE]
/** Requests per contestant and turn. */
const FIRST_BYTES = 20
const MAX_RATIO = 2

export async function benchS3({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const services = await startClusterServices()
  const server = await startPinhole(path.join(dir, 'pinhole'), await services.env(PREFIX))
  const measures: Measure[] = []
  try {
    let large = ''
    for (const { name, bytes } of SIZES) {
      const picture = await noisePicture(bytes)
      large = await upload(server.url, picture)
      const costs: number[] = []
      const url = `${server.url}/raw/${large}`
      await wrk({ url, connections: CONNECTIONS, seconds: 1 })
      for (let round = 0; round < rounds; round++) {
        const before = processorTime(server.pid)
        const { requests } = await wrk({ url, connections: CONNECTIONS, seconds })
        costs.push((processorTime(server.pid) - before) / requests)
      }
      measures.push({
        label: `processor time of a GET of ${name}`,
        values: costs,
        unit: 'µs',
      })
    }
    return { comparisons: [await firstByte(services, `${server.url}/raw/${large}`, large, rounds)], measures }
  } finally {
    await server.stop()
    await services.empty(PREFIX)
    await services.stop()
  }
}

/** Alternates between Pinhole and the gateway, one request at a time. */
async function firstByte(
  services: ClusterServices,
  ours: string,
  id: string,
  rounds: number,
): Promise<Comparison> {
  const { accessKeyId, secretAccessKey, endpoint, bucket } = services.service
  const key = (await services.list(PREFIX)).find((each) => each.endsWith(id))
  if (key === undefined) throw new Error(`no object of ${id}`)
  const signer = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region: 'us-east-1' })
  const signed = await signer.sign(`${endpoint}/${bucket}/${key}`)
  const headers = Object.fromEntries(signed.headers)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const [us, gateway]: [number[], number[]] = [[], []]
  try {
    for (let turn = 0; turn < rounds * FIRST_BYTES; turn++) {
      const both = [
        async () => us.push((await timedGet(ours, agent)).firstByte),
        async () => gateway.push((await timedGet(signed.url, agent, headers)).firstByte),
      ]
      for (const one of turn % 2 === 0 ? both : both.reverse()) await one()
    }
  } finally {
    agent.destroy()
  }
  return {
    label: 'first byte of 2 MB',
    reference: services.storeName,
    subjectValues: [summarize(us).median],
    referenceValues: [summarize(gateway).median],
    unit: 'ms',
    atMost: MAX_RATIO,
  }
}
