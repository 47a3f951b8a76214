/** Gauges, read when somebody asks. The same in every process of a machine. */
import { statfs } from 'node:fs/promises'
import { VERSION } from '../manifest.ts'
import type { Gauge } from './exposition.ts'
import { moderationGauges } from './moderation.ts'
import type { GaugedParts } from './parts.ts'

export function gaugesOf(parts: GaugedParts): Gauge[] {
  const { config, ledger, now, purges, tombstones, settings, notices } = parts
  return [
    ...moderationGauges(parts),
    {
      name: 'pinhole_purges_owed',
      help: 'Images that caches are still to forget.',
      read: async () => (await purges.pending())?.count ?? null,
    },
    {
      name: 'pinhole_purge_oldest_seconds',
      help: 'For how long the oldest of them is owed.',
      read: async () => (await purges.pending())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_tombstones_pending',
      help: 'Deletions and decisions that are not in the second place yet.',
      read: async () => (await tombstones.pending())?.count ?? null,
    },
    {
      name: 'pinhole_tombstone_oldest_seconds',
      help: 'For how long the oldest of them waits.',
      read: async () => (await tombstones.pending())?.oldestSeconds ?? null,
    },
    {
      name: 'pinhole_scans_pending',
      help: 'Pictures that a scanner is still to look at.',
      read: async () => (await ledger.pendingScans()).count,
    },
    {
      name: 'pinhole_scan_oldest_seconds',
      help: 'For how long the oldest of them waits; 0 if none does.',
      async read() {
        const { oldest } = await ledger.pendingScans()
        return oldest === null ? 0 : (now() - oldest) / 1000
      },
    },
    {
      name: 'pinhole_notices_pending',
      help: 'Kinds of notices that the operator is still to be told.',
      read: () => notices.pending(),
    },
    {
      name: 'pinhole_uploads_paused',
      help: '1 while uploads are refused.',
      read: () => (settings.current().uploads === 'paused' ? 1 : 0),
    },
    {
      name: 'pinhole_disk_free_bytes',
      help: 'Room for images, drafts and the ledger in DATA_DIR.',
      async read() {
        const { bavail, bsize } = await statfs(config.dataDir)
        return bavail * bsize
      },
    },
    {
      name: 'pinhole_build_info',
      help: '1, with the version that runs.',
      labels: { version: VERSION, node: process.versions.node },
      read: () => 1,
    },
  ]
}
