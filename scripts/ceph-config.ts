/** `ceph.conf` for a single-node, in-memory cluster on loopback. */
export function cephConfig(cluster: {
  folder: string
  fsid: string
  /** `[v2:host:port,v1:host:port]` */
  monAddress: string
  /** Port of the S3 gateway. */
  gateway: number
}): string {
  const { folder, fsid, monAddress, gateway } = cluster
  return `[global]
fsid = ${fsid}
mon host = ${monAddress}
mon initial members = a
ms bind msgr2 = true
public addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
run dir = ${folder}
pid file = ${folder}/$name.pid
admin socket = ${folder}/$name.asok
log file = ${folder}/log/$name.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
# Splitting placement groups of a new pool can leave them stuck ("laggy") on a single OSD.
osd pool default pg autoscale mode = off
# If a placement group's lease expires on a busy machine it stays "laggy" on a single OSD. The lease is 0.8 of this.
osd heartbeat grace = 36000
osd crush chooseleaf type = 0
mon allow pool size one = true
mon allow pool delete = true
mon warn on pool no redundancy = false
setuser match path = ${folder}
debug ms = 0

[mon]
mon data = ${folder}/mon
mon data avail crit = 1
mon data avail warn = 2
mon pg warn min per osd = 0
mon max pg per osd = 1000

[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd class load list = *
osd class default list = *

[client.rgw]
# Without tcp_nodelay every small response waits 40 ms for an acknowledgement.
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
rgw thread pool size = 64
# Space of deleted objects is freed within seconds, not hours: the store is small, and puts hang when an OSD is full.
rgw gc obj min wait = 5
rgw gc processor period = 10
rgw gc processor max time = 10
rgw enable usage log = false
rgw dns name = localhost
# Check quotas on every put, so that tests see changes immediately.
rgw bucket quota ttl = 0
`
}
