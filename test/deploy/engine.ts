/** The machine's container engine (podman, runc, buildah), with its storage, networks and state in a separate folder. */

import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'

const run = promisify(execFile)

/** Images and layers of all containers. Unit: bytes. */
const STORE_BYTES = 5 * 1024 ** 3

/** Longer than any step takes on a machine that is busy with other tests. */
const MAX_MS = 20 * 60_000

export interface Engine {
  folder: string
  /** Environment variables for the engine's programs. */
  variables: Record<string, string>
  /** Returns the output. Rejects with the program's messages if it fails. */
  podman(...args: string[]): Promise<string>
  buildah(...args: string[]): Promise<string>
  close(): Promise<void>
}

export async function openEngine(): Promise<Engine> {
  const folder = await newFolder()
  // In memory if there is plenty: deleting gigabytes blocks all flushes of the disk, and so the tests that run concurrently.
  if (freemem() > 2 * STORE_BYTES)
    await run('mount', ['-t', 'tmpfs', '-o', `size=${STORE_BYTES}`, 'tmpfs', folder])
  const storage = join(folder, 'storage.conf')
  const containers = join(folder, 'containers.conf')
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`,
  )
  // No systemd and no right to raise limits, as in CI: cgroupfs, and limits below those of this process.
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

  async function runProgram(program: string, args: string[]): Promise<string> {
    try {
      const { stdout } = await run(program, args, {
        env,
        timeout: MAX_MS,
        maxBuffer: 64 * 1024 * 1024,
      })
      return stdout.trim()
    } catch (error) {
      const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string }
      throw new Error(`${program} ${args[0]} failed:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`)
    }
  }

  const podman = (...args: string[]) => runProgram('podman', args)
  return {
    folder,
    variables,
    podman,
    buildah: (...args) => runProgram('buildah', args),
    async close() {
      await podman('rm', '--all', '--force', '--time', '0').catch(() => {})
      await podman('network', 'prune', '--force').catch(() => {})
      // The overlay driver leaves a mount behind.
      for (const mount of [join(folder, 'store/overlay'), folder]) {
        await run('umount', ['--recursive', mount]).catch(() => {})
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
