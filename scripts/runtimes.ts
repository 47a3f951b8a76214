/**
 * Locates Deno and Bun in npm's platform-specific packages. Their install scripts, which only copy these files, need not run.
 */
import { createRequire } from 'node:module'

const { resolve } = createRequire(import.meta.url)
const { platform, arch } = process
const suffix = platform === 'win32' ? '.exe' : ''

export const denoBinary = (): string =>
  resolve(`@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}/deno${suffix}`)

export const bunBinary = (): string =>
  resolve(
    `@oven/bun-${platform === 'win32' ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : arch}/bin/bun${suffix}`,
  )
