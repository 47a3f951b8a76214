/** Hands the SDK to the test, in a page. */
import * as pinhole from '../../src/client/browser.ts'

declare global {
  // In browsers, and in Node 26 too, but not yet in the compiler's ES2025.
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
