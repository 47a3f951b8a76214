/** A group floods the form for reports, and then somebody honest reports: over HTTP, behind a trusted proxy. */
import assert from 'node:assert/strict'
import { CATEGORIES, type ReportCategory } from '../../src/service/moderation/report-categories.ts'
import { KEPT_OF_CATEGORY } from '../../src/service/moderation/reports.ts'
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
const AT_ONCE = 24

const REPORTS = 10_000
const ADDRESSES = 1000
/** Images that are there, among those that are reported. */
const IMAGES = 400

/** How a group spreads: what each of its reports is about and where it comes from. */
type Tactic = (nth: number) => { image: string; category: ReportCategory; from: string }

/** `openLedger`: the one that the server has, given its folder. */
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
    for (let nth = 0; nth < IMAGES; nth++) {
      ids.push((await store(server.url, undefined, `198.51.100.${1 + (nth % 200)}`)).id)
    }
    const [mine, theirs] = [await store(server.url), ids[0]!]

    const tactics = tacticsOf(ids)
    const seen = new Map<number, number>()
    let next = 0
    const client = async (): Promise<void> => {
      for (let nth = next++; nth < REPORTS; nth = next++) {
        const { image, category, from } = tactics[nth % tactics.length]!(Math.floor(nth / tactics.length))
        const answer = await report(image, category, from, TEXT.repeat(1 + (nth % 40)))
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        assert.ok([202, 404, 429].includes(answer.status), answer.text)
        if (answer.status === 429) assert.match(answer.headers.get('Retry-After') ?? '', /^[1-9]\d*$/)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
    process.stderr.write(`  ${REPORTS} reports of a group: ${JSON.stringify(Object.fromEntries(seen))}\n`)
    assert.ok(seen.get(202)! > 0 && seen.get(404)! > 0, 'it reached both')

    // From far away, from between the group's networks, and from the middle of one.
    for (const from of ['203.0.113.77', '10.66.255.9', '10.66.0.254']) {
      for (const image of [mine.id, theirs]) {
        for (const category of NAMES) {
          const answer = await report(image, category, from)
          assert.equal(answer.status, 202, `${category} from ${from}: ${answer.text}`)
          const receipt = await request(server.url, 'GET', new URL(answer.json().receipt).pathname)
          assert.equal(receipt.status, 200, receipt.text)
          assert.deepEqual([receipt.json().category, receipt.json().state], [category, 'open'])
        }
      }
    }
    const titles = () => receiver.asked.map(({ body }) => JSON.parse(body).title as string)
    await until('the operator hears of it', async () => titles().some((title) => title.includes('flood')))
    assert.equal(titles().filter((title) => title.includes('flood')).length, 1)
    assert.ok(titles().length < 10, `${titles()}`)

    const ledger = await openLedger(server.dataDir)
    try {
      const [first] = await ledger.cases(['open'], 1)
      assert.equal(first?.isCrowded, false)
      for await (const { id, isCrowded } of ledger.everyCase()) {
        assert.ok(id === mine.id || ids.includes(id), 'a case of an image that never was')
        if (id === mine.id) assert.equal(isCrowded, false)
        const kept = await ledger.reportsOf(id, 100_000)
        assert.ok(kept.length <= NAMES.length * KEPT_OF_CATEGORY, `${kept.length} reports of ${id} are kept`)
      }
    } finally {
      await ledger.close()
    }
  } finally {
    await server.stop()
    await receiver.stop()
  }
}

/** All addresses are in 10.66.0.0/16: some fill whole networks of 250, others have a network each. */
function tacticsOf(ids: string[]): Tactic[] {
  const strangers = fakeIds(1000)
  const crowded = (nth: number) => `10.66.${Math.floor((nth % ADDRESSES) / 250)}.${1 + (nth % 250)}`
  const spread = (nth: number) =>
    `10.66.${nth % 250}.${1 + (Math.floor(nth / 250) % Math.ceil(ADDRESSES / 250))}`
  const category = (nth: number) => NAMES[nth % NAMES.length]!
  return [
    // One image and one kind, from everywhere.
    (nth) => ({ image: ids[0]!, category: 'child-abuse', from: spread(nth) }),
    (nth) => ({ image: ids[nth % ids.length]!, category: category(nth), from: spread(nth * 7) }),
    (nth) => ({ image: ids[(nth * 3) % ids.length]!, category: category(nth + 1), from: crowded(nth) }),
    (nth) => ({ image: strangers[nth % strangers.length]!, category: category(nth), from: crowded(nth * 3) }),
    // A few who never stop.
    (nth) => ({ image: ids[nth % ids.length]!, category: 'intimate', from: `10.66.0.${1 + (nth % 5)}` }),
  ]
}
