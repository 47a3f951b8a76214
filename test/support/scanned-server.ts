/** A server with a fake scanner. */
import type { TestContext } from 'node:test'
import { type Behaviour, type FakeScanner, startFakeScanner } from './fake-scanner.ts'
import { gif } from './images/tiny-images.ts'
import { type RunningServer, serverFor } from './processes/server.ts'
import { sha256Of } from './sha256.ts'
import { until } from './until.ts'
import { fetchRaw } from './upload.ts'

export async function started(
  t: TestContext,
  env: Record<string, string>,
): Promise<{ scanner: FakeScanner; server: RunningServer }> {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const server = await serverFor(t, { SCANNER_URL: scanner.url, UPLOADS_PER_DAY: '1000', ...env })
  return { scanner, server }
}

/** An image for which the scanner shows this behaviour. */
export function withAnswer(scanner: FakeScanner, behaviour: Behaviour): Buffer {
  const bytes = gif()
  scanner.answers.set(sha256Of(bytes), behaviour)
  return bytes
}

/** Waits until the image responds with `status`. */
export const becomes = (server: RunningServer, id: string, status: number) =>
  until(`${id} returns ${status}`, async () => (await fetchRaw(server.url, id)).status === status)
