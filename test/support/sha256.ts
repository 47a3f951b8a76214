import { hash } from 'node:crypto'

/** Lower-case hex. */
export const sha256Of = (bytes: Uint8Array | string): string => hash('sha256', bytes)
