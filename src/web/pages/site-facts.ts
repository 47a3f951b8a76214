import { LIFETIMES } from '../../lifetimes.ts'
import { createResizer } from '../resizer.ts'
import type { AssetUrls, SiteFacts } from './page.ts'

/** The part of the configuration that pages need. */
interface Settings {
  maxUploadBytes: number
  stripMetadata: boolean
  convertHeic: boolean
  previewTemplate: string | null
  defaultExpires: number | null
  maxAgeDays: number | null
  uploaderLinks: boolean
  operatorName: string | null
  operatorContact: string | null
}

/** `baseUrl`: no trailing slash. */
export function siteFactsOf(settings: Settings, baseUrl: string, assets: AssetUrls): SiteFacts {
  const max = (settings.maxAgeDays ?? Number.POSITIVE_INFINITY) * LIFETIMES['1d']
  return {
    baseUrl,
    maxUploadBytes: settings.maxUploadBytes,
    stripsMetadata: settings.stripMetadata,
    convertsHeic: settings.convertHeic,
    resizer: createResizer(settings.previewTemplate, baseUrl),
    lifetimes: { standard: Math.min(settings.defaultExpires ?? max, max), max },
    linksUploads: settings.uploaderLinks,
    operator: {
      name: settings.operatorName ?? undefined,
      contact: settings.operatorContact ?? undefined,
    },
    assets,
  }
}
