import { MAX_PIXELS, MAX_PIXELS_SMALL_MEMORY } from '../compress/plan.ts'
import type { EngineHost } from './host.ts'
import type { Reply } from './messages.ts'

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): {
    createScriptURL(url: string): string
  }
}

/** Under `require-trusted-types-for 'script'` a worker starts only from an address that a policy vouches for. */
let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

function trusted(url: string | URL): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  policy ??= trustedTypes?.createPolicy('pinhole', {
    createScriptURL(address) {
      if (new URL(address, location.href).origin !== location.origin) {
        throw new TypeError('workers come from our own origin')
      }
      return address
    },
  })
  return policy ? policy.createScriptURL(url.toString()) : url.toString()
}

/** Bundlers find workers by the words `new Worker(new URL(…, import.meta.url))`, so the policy hides behind the name. */
class Worker extends globalThis.Worker {
  constructor(url: URL, options: WorkerOptions) {
    super(trusted(url), options)
  }
}

export interface BrowserSettings {
  /** Address of `worker.js` from the package's `worker` folder, for bundlers that find no workers. Of the page's origin. */
  workerUrl?: string | URL
}

const HOW_TO_HELP =
  'Serve the folder "worker" of the package as it is, and call configure({ workerUrl: "/…/worker.js" }).'

export function createBrowserHost({ workerUrl }: BrowserSettings = {}): EngineHost {
  let warned = false
  const device = navigator as Navigator & { deviceMemory?: number }
  const isMobile = /Android|iP(?:hone|ad|od)/.test(device.userAgent)
  // An iPad says that it is a Mac; no Mac has a touch screen.
  const isIos =
    /iP(?:hone|ad|od)/.test(device.userAgent) || (device.platform === 'MacIntel' && device.maxTouchPoints > 1)
  return {
    maxWorkers: isMobile || isIos ? 1 : Math.max(1, Math.min(2, (device.hardwareConcurrency || 2) - 1)),
    maxPixels: () => (isIos || (device.deviceMemory ?? 8) <= 4 ? MAX_PIXELS_SMALL_MEMORY : MAX_PIXELS),
    noWorker() {
      if (workerUrl) throw new Error(`The compression worker at ${workerUrl} can't start. ${HOW_TO_HELP}`)
      if (!warned) console.warn(`Pictures go out uncompressed: no worker can start. ${HOW_TO_HELP}`)
      warned = true
    },
    sendable: async (blob) => blob,
    startWorker({ onReply, onLost }) {
      const worker = workerUrl
        ? new Worker(new URL(workerUrl, location.href), { type: 'module' })
        : new Worker(new URL('./browser-worker.ts', import.meta.url), { type: 'module' })
      worker.onmessage = ({ data }: MessageEvent<Reply>) => onReply(data)
      worker.onerror = (event) => onLost(new Error(event.message || 'the worker could not start'))
      worker.onmessageerror = () => onLost(new Error('the worker sent what cannot be read'))
      return {
        post: (request) => worker.postMessage(request),
        setBusy() {},
        terminate: () => worker.terminate(),
      }
    },
  }
}
