import { MAX_PIXELS, MAX_PIXELS_SMALL_MEMORY } from '../compress/plan.ts'
import type { BrowserSettings } from '../types.ts'
import type { Reply } from './messages.ts'
import type { EngineHost } from './pool.ts'

export interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): {
    createScriptURL(url: string): string
  }
}

/** Under `require-trusted-types-for 'script'`, a worker only starts from a URL that a policy has approved. */
let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

function trusted(url: string | URL): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  policy ??= trustedTypes?.createPolicy('pinhole', {
    createScriptURL(address) {
      if (new URL(address, location.href).origin !== location.origin) {
        throw new TypeError('a worker must be on the page’s origin')
      }
      return address
    },
  })
  return policy ? policy.createScriptURL(url.toString()) : url.toString()
}

/**
 * Vite and webpack detect the worker by the expression `new Worker(new URL(…, import.meta.url))`, and only if `Worker` is the
 * global. So the global is replaced, while that expression runs, by a class that applies the Trusted Types policy.
 */
function startBundled(): Worker {
  const native = globalThis.Worker
  globalThis.Worker = class extends native {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(trusted(url), options)
    }
  }
  try {
    return new Worker(new URL('./browser-worker.ts', import.meta.url), { type: 'module' })
  } finally {
    globalThis.Worker = native
  }
}

const HOW_TO_HELP =
  'Serve the folder "worker" of the package as is, and call configure({ workerUrl: "/…/worker.js" }).'

export function createBrowserHost({ workerUrl, withoutWorker }: BrowserSettings = {}): EngineHost {
  const device = navigator as Navigator & { deviceMemory?: number }
  const { userAgent } = device
  // iPads identify as Macs, but no Mac has a touch screen.
  const isIos = /iP(hone|ad|od)/.test(userAgent) || (/Mac/.test(userAgent) && device.maxTouchPoints > 1)
  return {
    // Firefox on Android does not tell its memory, which then counts as little.
    maxWorkers:
      isIos || (/Android/.test(userAgent) && !(device.deviceMemory! > 4))
        ? 1
        : Math.min(2, device.hardwareConcurrency || 1),
    maxPixels: () => (isIos || (device.deviceMemory ?? 8) <= 4 ? MAX_PIXELS_SMALL_MEMORY : MAX_PIXELS),
    noWorker() {
      if (withoutWorker === 'scrub') return
      throw new Error(
        `The compression worker${workerUrl ? ` at ${workerUrl}` : ''} can't start. ${HOW_TO_HELP}`,
      )
    },
    sendable: async (blob) => blob,
    startWorker({ onReply, onLost }) {
      const worker = workerUrl
        ? new Worker(trusted(new URL(workerUrl, location.href)), { type: 'module' })
        : startBundled()
      worker.onmessage = ({ data }: MessageEvent<Reply>) => onReply(data)
      worker.onerror = onLost
      worker.onmessageerror = onLost
      return {
        post: (request) => worker.postMessage(request),
        setBusy() {},
        terminate: () => worker.terminate(),
      }
    },
  }
}
