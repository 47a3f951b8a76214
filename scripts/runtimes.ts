/**
 * Deno and Bun, from the packages of this machine's platform that npm brings: their install scripts need not run, which
 * only copy what is in these.
 */
import { createRequire } from 'node:module'

const { resolve } = createRequire(import.meta.url)
const { platform, arch } = process
const ends = platform === 'win32' ? '.exe' : ''

export const denoBinary = (): string =>
  resolve(`@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}/deno${ends}`)

export const bunBinary = (): string =>
  resolve(
    `@oven/bun-${platform === 'win32' ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : arch}/bin/bun${ends}`,
  )
