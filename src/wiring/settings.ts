import type { Config } from '../config.ts'
import type { SettingValues } from '../service/settings.ts'

/** Settings as long as the operator changes none. */
export function defaultSettings(config: Config): SettingValues {
  return {
    uploads: config.uploadsPaused ? 'paused' : 'on',
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
