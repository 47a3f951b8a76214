/** The HTTP contract: every row of the interface and of the contract, over a real socket, against any host. */
import { after, afterEach, describe, type TestContext } from 'node:test'
import { documentCases, documentIsWhole } from './http/api.ts'
import { brokenCases } from './http/broken.ts'
import { browserCases } from './http/browser.ts'
import { challengeCases } from './http/challenges.ts'
import { conditionCases } from './http/conditions.ts'
import { deleteCases } from './http/delete.ts'
import { drainCases } from './http/drain.ts'
import { everyAnswerCases } from './http/every-answer.ts'
import { expiryCases } from './http/expiry.ts'
import { goneCases } from './http/gone.ts'
import { createWorld, type StartHost, type World } from './http/host.ts'
import { malformedCases } from './http/malformed.ts'
import { multipartCases } from './http/multipart.ts'
import { operatorCases } from './http/operator.ts'
import { pageCases } from './http/pages.ts'
import { pathCases } from './http/paths.ts'
import { previewCases } from './http/previews.ts'
import { privacyCases } from './http/privacy.ts'
import { capCases, quotaCases } from './http/quota.ts'
import { rawCases } from './http/raw.ts'
import { refusalCases } from './http/refusals.ts'
import { repeatCases } from './http/repeats.ts'
import { reportCases } from './http/reports.ts'
import { scanCases } from './http/scans.ts'
import { scrubCases } from './http/scrub.ts'
import { slowCases } from './http/slow.ts'
import { transportCases } from './http/transport.ts'
import { unfurlingCases } from './http/unfurling.ts'
import { uploadCases } from './http/upload.ts'

const CASES = {
  'what an upload answers': uploadCases,
  'safe repeats': repeatCases,
  'what expires': expiryCases,
  'what is gone or held': goneCases,
  'the form of an upload': multipartCases,
  'broken forms': malformedCases,
  'quota and client address': quotaCases,
  'caps of networks and of all': capCases,
  'refused uploads, and many at once': refusalCases,
  challenges: challengeCases,
  'browsers and other sites': browserCases,
  'refusals that come early': drainCases,
  'raw bytes': rawCases,
  'conditions and ranges': conditionCases,
  previews: previewCases,
  'what is stored': scrubCases,
  'pictures that are scanned': scanCases,
  pages: pageCases,
  deletion: deleteCases,
  'methods and paths': pathCases,
  'every answer': everyAnswerCases,
  'links that unfurl': unfurlingCases,
  'the document': documentCases,
  'the transport': transportCases,
  'the operator': operatorCases,
  reports: reportCases,
  'what fails': brokenCases,
  'what comes slowly': slowCases,
  // Last: it reads what all the others left behind.
  'what is kept': privacyCases,
} satisfies Record<string, (world: World) => void>

type Part = keyof typeof CASES

/** For a host whose code ran all of it elsewhere, as its store and its ledger passed theirs: that the two go together. */
export const OF_STORES: Part[] = [
  'what an upload answers',
  'safe repeats',
  'what is gone or held',
  'quota and client address',
  'raw bytes',
  'previews',
  'deletion',
  'what fails',
  'what is kept',
]

/** For a host whose code ran all of it elsewhere, and whose file system, network and account are others. */
export const OF_PLACES: Part[] = [
  'what an upload answers',
  'quota and client address',
  'raw bytes',
  'pages',
  'deletion',
  'what fails',
]

/** `atOnce`: cases of a part. `parts`: instead of all. */
export function httpContract(
  name: string,
  start: StartHost,
  { atOnce = 8, parts }: { atOnce?: number; parts?: Part[] } = {},
): void {
  // Part after part, also where contracts run side by side: the last case comes after all others.
  describe(`HTTP contract: ${name}`, { concurrency: 1 }, () => {
    const world = createWorld(start)
    after(() => world.close())
    afterEach(async (context) => {
      // `passed` is missing in Node's types.
      const t = context as unknown as TestContext & { passed: boolean }
      // A 500 or 503 does not name its cause.
      if (!t.passed) t.diagnostic(await world.warnings())
    })
    for (const [part, cases] of Object.entries(CASES)) {
      if (parts === undefined || parts.includes(part as Part))
        describe(part, { concurrency: atOnce }, () => cases(world))
    }
    // Each answer of the document was given, in one part or another.
    if (parts === undefined) documentIsWhole(world)
  })
}
