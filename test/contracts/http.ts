/** The HTTP contract: tests the whole public API over a real socket, against any host. */
import { after, afterEach, describe, type TestContext } from 'node:test'
import { allResponsesCases } from './http/all-responses.ts'
import { documentCases, documentIsCovered } from './http/api.ts'
import { browserCases } from './http/browser.ts'
import { challengeCases } from './http/challenges.ts'
import { conditionCases } from './http/conditions.ts'
import { deleteCases } from './http/delete.ts'
import { drainCases } from './http/drain.ts'
import { expiryCases } from './http/expiry.ts'
import { createWorld, type StartHost, type World } from './http/host.ts'
import { idempotencyCases } from './http/idempotency.ts'
import { malformedCases } from './http/malformed.ts'
import { multipartCases } from './http/multipart.ts'
import { operatorCases } from './http/operator.ts'
import { pageCases } from './http/pages.ts'
import { pathCases } from './http/paths.ts'
import { previewCases } from './http/previews.ts'
import { privacyCases } from './http/privacy.ts'
import { quotaCases, serverLimitCases } from './http/quota.ts'
import { rawCases } from './http/raw.ts'
import { refusalCases } from './http/refusals.ts'
import { removedImageCases } from './http/removed-images.ts'
import { reportCases } from './http/reports.ts'
import { scanCases } from './http/scans.ts'
import { metadataCases } from './http/scrub.ts'
import { slowCases } from './http/slow.ts'
import { storageFailureCases } from './http/storage-failures.ts'
import { transportCases } from './http/transport.ts'
import { unfurlingCases } from './http/unfurling.ts'
import { uploadCases } from './http/upload.ts'

const CASES = {
  uploads: uploadCases,
  'idempotent retries': idempotencyCases,
  'image expiry': expiryCases,
  'deleted, held and removed images': removedImageCases,
  'multipart forms': multipartCases,
  'malformed forms': malformedCases,
  'quota and client address': quotaCases,
  'network and server-wide limits': serverLimitCases,
  'refused and concurrent uploads': refusalCases,
  challenges: challengeCases,
  'cross-site requests and CORS': browserCases,
  'early refusals': drainCases,
  'image bytes': rawCases,
  'conditional and range requests': conditionCases,
  previews: previewCases,
  'metadata removal': metadataCases,
  'scanning before publication': scanCases,
  pages: pageCases,
  deletion: deleteCases,
  'methods and paths': pathCases,
  'all responses': allResponsesCases,
  'link previews': unfurlingCases,
  'API description': documentCases,
  'HTTP transport': transportCases,
  'operator commands': operatorCases,
  reports: reportCases,
  'storage failures': storageFailureCases,
  'slow requests': slowCases,
  // Last: inspects the logs and files that all other cases left behind.
  privacy: privacyCases,
} satisfies Record<string, (world: World) => void>

type Part = keyof typeof CASES

/** Enough for another combination of store and ledger, when the code and both adapters have passed their full contracts. */
export const OF_STORES: Part[] = [
  'uploads',
  'idempotent retries',
  'deleted, held and removed images',
  'quota and client address',
  'image bytes',
  'previews',
  'deletion',
  'storage failures',
  'privacy',
]

/** `atOnce`: concurrent cases within a part. `parts`: parts to run; all by default. */
export function httpContract(
  name: string,
  start: StartHost,
  { atOnce = 8, parts }: { atOnce?: number; parts?: Part[] } = {},
): void {
  // Parts run one after the other, even when contracts run concurrently, so that the last case comes after all others.
  describe(`HTTP contract: ${name}`, { concurrency: 1 }, () => {
    const world = createWorld(start)
    after(() => world.close())
    afterEach(async (context) => {
      // `passed` is missing in Node's types.
      const t = context as unknown as TestContext & { passed: boolean }
      // A 500 or 503 response does not reveal its cause: the log does.
      if (!t.passed) t.diagnostic(await world.warnings())
    })
    for (const [part, cases] of Object.entries(CASES)) {
      if (parts === undefined || parts.includes(part as Part))
        describe(part, { concurrency: atOnce }, () => cases(world))
    }
    // Every documented response must have occurred in some part.
    if (parts === undefined) documentIsCovered(world)
  })
}
