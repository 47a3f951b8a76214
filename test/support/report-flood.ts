/** A coordinated group floods the report form, then honest visitors report: over HTTP, behind a trusted proxy. */
import assert from 'node:assert/strict'
import { forEachConcurrent } from '../../src/async.ts'
import { CATEGORIES, type ReportCategory } from '../../src/service/moderation/report-categories.ts'
import { MAX_TEXTS_PER_CATEGORY } from '../../src/service/moderation/reports.ts'
import type { Ledger } from '../../src/stores/ledger.ts'
import { type Answer, request } from './http.ts'
import { fakeIds } from './ids.ts'
import { startFakeProvider } from './processes/fake-provider.ts'
import type { Env } from './processes/process.ts'
import { startServer } from './processes/server.ts'
import { postReport } from './report.ts'
import { until } from './until.ts'
import { store } from './upload.ts'

const NAMES = Object.keys(CATEGORIES) as ReportCategory[]
const TEXT = 'This picture shows my garden without my leave.'
const CONCURRENCY = 24

const REPORTS = 10_000
const ADDRESSES = 1000
/** Existing images among the reported ones. */
const IMAGES = 400

/** How the group spreads its reports over images, categories and addresses. */
type Tactic = (index: number) => { image: string; category: ReportCategory; from: string }

/** `openLedger`: opens the server's ledger, given its data folder. */
export async function checkFlood(env: Env, openLedger: (dataDir: string) => Promise<Ledger>): Promise<void> {
  const receiver = await startFakeProvider()
  receiver.answer({ status: 200 })
  const server = await startServer({
    NOTIFY: `ntfy://${receiver.host}/ops?tls=off`,
    LOG_LEVEL: 'error',
    ...env,
  })
  const report = (image: string, category: ReportCategory, from: string, text = TEXT): Promise<Answer> =>
    postReport(server.url, image, { category, text, name: 'A', email: 'a@b.example', signature: 'A' }, from)
  try {
    const ids: string[] = []
    for (let index = 0; index < IMAGES; index++) {
      ids.push((await store(server.url, undefined, `198.51.100.${1 + (index % 200)}`)).id)
    }
    const [unreported, reported] = [await store(server.url), ids[0]!]

    const tactics = tacticsOf(ids)
    const statuses = new Map<number, number>()
    await forEachConcurrent([...Array(REPORTS).keys()], CONCURRENCY, async (index) => {
      const { image, category, from } = tactics[index % tactics.length]!(Math.floor(index / tactics.length))
      const answer = await report(image, category, from, TEXT.repeat(1 + (index % 40)))
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      assert.ok([202, 404, 429].includes(answer.status), answer.text)
      if (answer.status === 429) assert.match(answer.headers.get('Retry-After') ?? '', /^[1-9]\d*$/)
    })
    process.stderr.write(`  ${REPORTS} reports of a group: ${JSON.stringify(Object.fromEntries(statuses))}\n`)
    assert.ok(
      statuses.get(202)! > 0 && statuses.get(404)! > 0,
      'the flood reached existing and missing images',
    )

    // From an unrelated network, from a neighbouring network, and from within one of the group's networks.
    for (const from of ['203.0.113.77', '10.66.255.9', '10.66.0.254']) {
      for (const image of [unreported.id, reported]) {
        for (const category of NAMES) {
          const answer = await report(image, category, from)
          assert.equal(answer.status, 202, `${category} from ${from}: ${answer.text}`)
          const receipt = await request(server.url, 'GET', new URL(answer.json().receipt).pathname)
          assert.equal(receipt.status, 200, receipt.text)
          assert.deepEqual([receipt.json().category, receipt.json().state], [category, 'open'])
        }
      }
    }
    const isFlood = (title: string) => title.includes('Flood of reports')
    const titles = () => receiver.asked.map(({ body }) => JSON.parse(body).title as string)
    await until('the operator is notified', async () => titles().some(isFlood))
    assert.equal(titles().filter(isFlood).length, 1)
    assert.ok(titles().length < 10, `${titles()}`)

    const ledger = await openLedger(server.dataDir)
    try {
      const [first] = await ledger.cases(['open'], 1)
      assert.equal(first?.isCrowded, false)
      for await (const { id, isCrowded } of ledger.everyCase()) {
        assert.ok(id === unreported.id || ids.includes(id), 'a case of an image that never existed')
        if (id === unreported.id) assert.equal(isCrowded, false)
        const kept = await ledger.reportsOf(id, 100_000)
        assert.ok(
          kept.length <= NAMES.length * MAX_TEXTS_PER_CATEGORY,
          `${kept.length} reports of ${id} are kept`,
        )
      }
    } finally {
      await ledger.close()
    }
  } finally {
    await server.stop()
    await receiver.stop()
  }
}

/** All addresses are in 10.66.0.0/16: some tactics use whole networks of 250, others one address per network. */
function tacticsOf(ids: string[]): Tactic[] {
  const missing = fakeIds(1000)
  const crowded = (index: number) => `10.66.${Math.floor((index % ADDRESSES) / 250)}.${1 + (index % 250)}`
  const spread = (index: number) =>
    `10.66.${index % 250}.${1 + (Math.floor(index / 250) % Math.ceil(ADDRESSES / 250))}`
  const category = (index: number) => NAMES[index % NAMES.length]!
  return [
    // A single image and category, from everywhere.
    (index) => ({ image: ids[0]!, category: 'child-abuse', from: spread(index) }),
    (index) => ({ image: ids[index % ids.length]!, category: category(index), from: spread(index * 7) }),
    (index) => ({
      image: ids[(index * 3) % ids.length]!,
      category: category(index + 1),
      from: crowded(index),
    }),
    (index) => ({
      image: missing[index % missing.length]!,
      category: category(index),
      from: crowded(index * 3),
    }),
    // A few addresses that never stop.
    (index) => ({
      image: ids[index % ids.length]!,
      category: 'intimate',
      from: `10.66.0.${1 + (index % 5)}`,
    }),
  ]
}
