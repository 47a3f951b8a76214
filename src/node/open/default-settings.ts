/** Settings as the configuration has them. */
import type { Config } from '../../config.ts'
import type { SettingValues } from '../../service/settings.ts'

export function defaultSettings(config: Config): SettingValues {
  return {
    uploads: config.uploadsPaused ? 'paused' : 'on',
    images: 'public',
    'daily-uploads': config.dailyUploads,
    'daily-bytes': config.dailyBytes,
    'network-uploads': config.networkUploads,
    'min-free-bytes': config.minFreeBytes,
    'unanswered-minutes': config.unansweredMinutes,
  }
}
