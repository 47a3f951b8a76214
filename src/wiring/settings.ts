import type { Config } from '../config.ts'
import type { LifetimeRules } from '../service/images/expiry.ts'
import type { SettingValues } from '../service/settings.ts'
import { DAY_MS } from '../utc-day.ts'

/** The settings before any change by the operator. */
export function defaultSettings(config: Config): SettingValues {
  return {
    uploads: config.uploads,
    images: 'public',
    challenge: config.challenge,
    'challenge-rate': config.challengeRate,
    'daily-uploads': config.dailyUploads,
    'daily-bytes': config.dailyBytes,
    'network-uploads': config.networkUploads,
    'min-free-bytes': config.minFreeBytes,
    'unanswered-minutes': config.unansweredMinutes,
  }
}

export function lifetimeRules({ defaultExpires, maxAgeDays }: Config): LifetimeRules {
  return { standard: defaultExpires, max: maxAgeDays === null ? null : (maxAgeDays * DAY_MS) / 1000 }
}
