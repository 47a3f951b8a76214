/** The container engine of this machine, with storage, networks and state in a folder of its own: podman, runc, buildah. */

import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'

const run = promisify(execFile)

/** Images and layers of all that is run. Unit: bytes. */
const STORE_BYTES = 5 * 1024 ** 3

/** Longer than anything takes on a machine that is busy with other tests. */
const MAX_MS = 20 * 60_000

export interface Engine {
  folder: string
  /** What its programs have in their environment. */
  variables: Record<string, string>
  /** What it prints. Rejects, with what it said, if the program fails. */
  podman(...words: string[]): Promise<string>
  buildah(...words: string[]): Promise<string>
  close(): Promise<void>
}

export async function openEngine(): Promise<Engine> {
  const folder = await newFolder()
  // In memory where there is plenty: to delete gigabytes holds up every flush of the disk, and so the tests beside this one.
  if (freemem() > 2 * STORE_BYTES)
    await run('mount', ['-t', 'tmpfs', '-o', `size=${STORE_BYTES}`, 'tmpfs', folder])
  const storage = join(folder, 'storage.conf')
  const containers = join(folder, 'containers.conf')
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`,
  )
  // Without systemd and the right to raise limits, as in CI: control groups by hand, limits below those of this process.
  await writeFile(
    containers,
    `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${folder}/tmp"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`,
  )
  await mkdir(join(folder, 'networks'))
  const variables = { CONTAINERS_STORAGE_CONF: storage, CONTAINERS_CONF: containers }
  const env = { ...process.env, ...variables }

  async function say(program: string, words: string[]): Promise<string> {
    try {
      const { stdout } = await run(program, words, {
        env,
        timeout: MAX_MS,
        maxBuffer: 64 * 1024 * 1024,
      })
      return stdout.trim()
    } catch (error) {
      const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string }
      throw new Error(`${program} ${words[0]} failed:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`)
    }
  }

  const podman = (...words: string[]) => say('podman', words)
  return {
    folder,
    variables,
    podman,
    buildah: (...words) => say('buildah', words),
    async close() {
      await podman('rm', '--all', '--force', '--time', '0').catch(() => {})
      await podman('network', 'prune', '--force').catch(() => {})
      // The driver leaves a mount of its own.
      for (const mount of [join(folder, 'store/overlay'), folder]) {
        await run('umount', ['--recursive', mount]).catch(() => {})
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
