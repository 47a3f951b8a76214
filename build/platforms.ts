/** The platforms of a release. */
export type Platform = 'linux-x64' | 'linux-arm64'

export const PLATFORMS: readonly Platform[] = ['linux-x64', 'linux-arm64']

/** Debian's and container images' names for the architectures. */
export const ARCHITECTURES: Record<Platform, string> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }
