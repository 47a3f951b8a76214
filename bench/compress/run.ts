/** Runs one contestant on one input. */
import type { CDPSession, Page } from 'playwright-core'
import sharp from 'sharp'
import { butteraugli, type Difference } from './metrics.ts'
import type { Input } from './photographs.ts'

export interface Result {
  contestant: string
  input: Input
  bytes: Buffer
  type: string
  /** CPU time of the page and its workers, which does not depend on other load. */
  cpuMilliseconds: number
  /** `null` when the result was scaled down. */
  score: Difference | null
  /** All pixels are identical, including alpha. */
  exact: boolean
}

export async function runContestant(
  page: Page,
  contestant: string,
  input: Input,
  folder: string,
  cdp: CDPSession,
): Promise<Result> {
  const { format } = await sharp(input.bytes).metadata()
  const before = await rendererSeconds(cdp)
  const { base64, type } = await page.evaluate(
    ({ contestant, base64, type }) => window.run(contestant, base64, type),
    { contestant, base64: input.bytes.toString('base64'), type: `image/${format}` },
  )
  const cpuMilliseconds = 1000 * ((await rendererSeconds(cdp)) - before)
  const bytes = Buffer.from(base64, 'base64')
  const score = await butteraugli(input.bytes, bytes, folder)
  return {
    contestant,
    input,
    bytes,
    type,
    cpuMilliseconds,
    score,
    exact: await isExact(input.bytes, bytes),
  }
}

async function isExact(before: Buffer, after: Buffer): Promise<boolean> {
  const raw = (image: Buffer) => sharp(image, { ignoreIcc: true }).rotate().ensureAlpha().raw().toBuffer()
  return (await raw(before)).equals(await raw(after))
}

/** CPU time of all renderer processes so far. */
async function rendererSeconds(cdp: CDPSession): Promise<number> {
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo')
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
