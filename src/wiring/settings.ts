/** The parts of the configuration as services take them. */
import type { Config } from '../config.ts'
import type { ScanRules } from '../service/moderation/scan-gate.ts'
import type { QuotaLimits } from '../service/quota/quota.ts'
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

export function quotaLimits(config: Config): QuotaLimits {
  return {
    perDay: config.uploadsPerDay,
    refusals: { count: config.refusalsPerDay, bytes: config.refusedBytesPerDay },
  }
}

export function scanRules({ scan, scanFault, scanSeconds }: Config): ScanRules {
  return { when: scan, fault: scanFault, limitMs: scanSeconds * 1000 }
}
