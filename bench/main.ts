/** `npm run bench -- [NAME…] [options]`: see README.md. */
import { mkdir, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readArguments } from '../scripts/arguments.ts'
import { isInstalled } from '../test/support/processes/caches.ts'
import { type BenchOptions, type Figures, tablesOf } from './report/figures.ts'
import { machine, thisRun } from './report/machine.ts'
import { saveFigures } from './report/readme.ts'

const benches: Record<
  string,
  { needs: string[]; load: () => Promise<(options: BenchOptions) => Promise<Figures>>; page?: string }
> = {
  get: { needs: ['wrk', 'nginx'], load: async () => (await import('./get/get.ts')).benchGet },
  cold: {
    needs: ['wrk', 'nginx', 'caddy', 'taskset'],
    load: async () => (await import('./get/get.ts')).benchCold,
  },
  s3: { needs: ['wrk'], load: async () => (await import('./get/s3.ts')).benchS3 },
  'first-view': { needs: [], load: async () => (await import('./get/first-view.ts')).benchFirstView },
  upload: { needs: ['wrk'], load: async () => (await import('./upload/upload.ts')).benchUpload },
  store: { needs: ['wrk'], load: async () => (await import('./scale/store.ts')).benchStore },
  cluster: { needs: ['wrk', 'nginx'], load: async () => (await import('./cluster/cluster.ts')).benchCluster },
  profile: {
    needs: ['wrk'],
    load: async () => (await import('./profile/profile.ts')).benchProfile,
    page: 'docs/performance.md',
  },
  link: { needs: [], load: async () => (await import('./link/link.ts')).benchLink, page: 'bench/link.md' },
  previews: {
    needs: [],
    load: async () => (await import('./previews/previews.ts')).benchPreviews,
    page: 'bench/previews.md',
  },
  challenge: {
    needs: [],
    load: async () => (await import('./challenge/challenge.ts')).benchChallenge,
    page: 'bench/challenge.md',
  },
  trickle: { needs: [], load: async () => (await import('./upload/trickle.ts')).benchTrickle },
  workers: { needs: [], load: async () => (await import('./upload/workers.ts')).benchWorkers },
  crowds: { needs: ['caddy'], load: async () => (await import('./crowds/crowds.ts')).benchCrowds },
  lighthouse: {
    needs: [],
    load: async () => (await import('./pages/lighthouse.ts')).benchLighthouse,
    page: 'docs/upload-page.md',
  },
  ways: {
    needs: ['buildah', 'podman', 'mmdebstrap', 'dpkg-deb'],
    load: async () => (await import('./ways/ways.ts')).benchWays,
    page: 'README.md',
  },
  pages: {
    needs: [],
    load: async () => (await import('./pages/pages.ts')).benchPages,
    page: 'docs/upload-page.md',
  },
}

const { values: flags, positionals } = readArguments(
  'npm run bench -- [NAME…] [--rounds N] [--seconds N] [--images N] [--clients N] [--dir DIR] [--save]',
  {
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '3' },
      images: { type: 'string', default: '100000' },
      clients: { type: 'string', default: '200' },
      dir: { type: 'string', default: tmpdir() },
      save: { type: 'boolean', default: false },
    },
  },
)
const picked = positionals.length > 0 ? positionals : Object.keys(benches)
const unknown = picked.filter((name) => !(name in benches))
if (unknown.length > 0) throw new Error(`unknown bench: ${unknown}. Available: ${Object.keys(benches)}`)
const missing: string[] = []
for (const tool of new Set(picked.flatMap((name) => benches[name]!.needs)))
  if (!(await isInstalled(tool))) missing.push(tool)
if (missing.length > 0) throw new Error(`install these first, e.g. with apt-get: ${missing.join(' ')}`)

console.error(`${thisRun()}\n${machine()}`)
for (const name of picked) {
  console.error(`\n${name}`)
  await mkdir(flags.dir, { recursive: true })
  await using temporary = await mkdtempDisposable(path.join(flags.dir, `pinhole-bench-${name}-`))
  const dir = temporary.path
  const bench = await benches[name]!.load()
  const tables = tablesOf(
    await bench({
      dir,
      rounds: wholeNumber('rounds'),
      seconds: wholeNumber('seconds'),
      images: wholeNumber('images'),
      clients: wholeNumber('clients'),
      save: flags.save,
    }),
  )
  console.log(`\n${tables}\n`)
  if (flags.save) await saveFigures(name, tables, benches[name]!.page ?? 'bench/README.md')
}

/** wrk accepts only whole seconds. */
function wholeNumber(name: 'rounds' | 'seconds' | 'images' | 'clients'): number {
  if (!/^[1-9]\d*$/.test(flags[name])) throw new Error(`--${name} must be a whole number, 1 or more`)
  return Number(flags[name])
}
