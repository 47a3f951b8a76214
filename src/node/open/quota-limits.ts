/** What the configuration allows an address. */
import type { Config } from '../../config.ts'
import type { QuotaLimits } from '../../service/quota.ts'

export function quotaLimits(config: Config): QuotaLimits {
  return {
    perDay: config.uploadsPerDay,
    atOnce: config.uploadsAtOnce,
    refusals: { count: config.refusalsPerDay, bytes: config.refusedBytesPerDay },
  }
}
