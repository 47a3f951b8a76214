/** What a release is made for. */
export type Platform = 'linux-x64' | 'linux-arm64'

export const PLATFORMS: readonly Platform[] = ['linux-x64', 'linux-arm64']

/** As Debian and container images call them. */
export const ARCHITECTURES: Record<Platform, string> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }
