/** The alert rules and the dashboard use existing metrics, and each alert has a section in the runbook. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { atAdmin } from './support/at-admin.ts'
import { folderOf } from './support/folder.ts'
import { skipWithout } from './support/processes/caches.ts'
import { ROOT } from './support/processes/process.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { report } from './support/report.ts'
import { remove, store } from './support/upload.ts'

const run = promisify(execFile)
const folder = join(ROOT, 'deploy/prometheus')
const skip = await skipWithout('promtool')

let server: RunningServer
let text: string
before(async () => {
  // An unreachable cache, so that purges stay pending and show up in the metrics.
  server = await startServer({
    CDN_URL: 'varnish://127.0.0.1:9',
    DAILY_BYTES: '100000000',
    DAILY_UPLOADS: '1000',
    NOTIFY: 'ntfy://127.0.0.1:9/nobody?tls=off',
    TOMBSTONES_URL: 'file:/nowhere/pinhole',
  })
  const { key } = await store(server.url)
  // Includes the case of a deleted image, which is never due.
  await report(server.url, (await store(server.url)).id)
  await remove(server.url, key)
  text = (await atAdmin(server.dataDir, 'GET', '/metrics')).text
})
after(() => server?.stop())

test('the alert rules are valid, and fire when they should', { skip }, async () => {
  await run('promtool', ['check', 'rules', 'alerts.yaml'], { cwd: folder })
  await run('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder })
})

test('promtool has no complaints about the metrics', { skip }, async () => {
  const checked = run('promtool', ['check', 'metrics'])
  checked.child.stdin?.end(text)
  const { stdout, stderr } = await checked
  assert.equal(stdout + stderr, '')
})

test('every metric used by the rules and the dashboard exists', async () => {
  const files = ['deploy/prometheus/alerts.yaml', 'deploy/grafana/pinhole.json']
  for (const file of files) {
    const content = await readFile(join(ROOT, file), 'utf8')
    // The dashboard's own name has no underscore.
    const named = new Set(content.match(/\bpinhole_[a-z_]+/g))
    assert.ok(named.size > 5, file)
    for (const name of named) assert.match(text, new RegExp(`^${name}[{ ]`, 'm'), `${file}: ${name}`)
  }
})

test('the dashboard counts a removal by the operator once, although every server reports it', {
  skip,
}, async (t) => {
  const dashboard = await readFile(join(ROOT, 'deploy/grafana/pinhole.json'), 'utf8')
  const panels: { targets?: { expr: string }[] }[] = JSON.parse(dashboard).panels
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const expr = exprs.find((each) => each.includes('pinhole_removals_total'))
  const series = (instance: string, by: string) => ({
    series: `pinhole_removals_total{instance="${instance}", by="${by}", cause="x"}`,
    values: '0+1x60',
  })
  const file = join(await folderOf(t), 'removals.yaml')
  const sample = (by: string, value: number) => ({ labels: `{by="${by}", cause="x"}`, value })
  const exp_samples = [sample('uploader', 120), sample('operator', 60)]
  const tests = [
    {
      interval: '1m',
      input_series: ['a', 'b'].flatMap((name) => [series(name, 'operator'), series(name, 'uploader')]),
      promql_expr_test: [{ expr, eval_time: '1h', exp_samples }],
    },
  ]
  await writeFile(file, JSON.stringify({ evaluation_interval: '1m', tests }))
  await run('promtool', ['test', 'rules', file])
})

test('each alert has a section in the runbook, and each section has an alert', async () => {
  const rules = await readFile(join(folder, 'alerts.yaml'), 'utf8')
  const runbook = await readFile(join(ROOT, 'docs/runbook.md'), 'utf8')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
  assert.deepEqual(sections, alerts)
  for (const name of alerts) assert.ok(rules.includes(`docs/runbook.md#${name.toLowerCase()}`), name)
})
