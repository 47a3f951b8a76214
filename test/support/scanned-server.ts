/** A server with a scanner beside it. */
import type { TestContext } from 'node:test'
import { type Behaviour, type FakeScanner, startFakeScanner } from './fake-scanner.ts'
import { gif } from './images/tiny-images.ts'
import { type RunningServer, startServer } from './processes/server.ts'
import { sha256Of } from './sha256.ts'
import { until } from './until.ts'
import { fetchRaw } from './upload.ts'

export async function started(
  t: TestContext,
  env: Record<string, string>,
): Promise<{ scanner: FakeScanner; server: RunningServer }> {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const server = await startServer({ SCANNER_URL: scanner.url, UPLOADS_PER_DAY: '1000', ...env })
  t.after(() => server.stop())
  return { scanner, server }
}

/** A picture that the scanner answers so. */
export function withAnswer(scanner: FakeScanner, does: Behaviour): Buffer {
  const bytes = gif()
  scanner.answers.set(sha256Of(bytes), does)
  return bytes
}

export const becomes = (server: RunningServer, id: string, status: number) =>
  until(`${id} answers ${status}`, async () => (await fetchRaw(server.url, id)).status === status)
