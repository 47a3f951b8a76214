/** Exposes the SDK to tests in a page. */
import * as pinhole from '../../src/client/browser.ts'

declare global {
  // Available in browsers and Node 26, but not yet in the compiler's ES2025 library.
  interface Uint8ArrayConstructor {
    fromBase64(text: string): Uint8Array<ArrayBuffer>
  }
  interface Uint8Array {
    toBase64(): string
  }
  interface Window {
    pinhole: typeof pinhole
  }
}

window.pinhole = pinhole
