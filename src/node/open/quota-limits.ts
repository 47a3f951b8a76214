/** What the configuration allows an address, and all of them. */
import type { Config } from '../../config.ts'
import type { LineLimits } from '../../service/quota/line.ts'
import type { QuotaLimits } from '../../service/quota/quota.ts'
import type { Limits } from '../http/limits.ts'

export function quotaLimits(config: Config): QuotaLimits {
  return {
    perDay: config.uploadsPerDay,
    refusals: { count: config.refusalsPerDay, bytes: config.refusedBytesPerDay },
  }
}

export function lineLimits({ uploadsAtOnce }: Config, limits: Limits): LineLimits {
  const { uploadsRead, waitMs, waitingOfAddress, waitingBytes } = limits
  return { uploadsAtOnce, uploadsRead, waitMs, waitingOfAddress, waitingBytes }
}
