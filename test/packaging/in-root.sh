#!/bin/sh
# Runs a program in another root file system, replacing this process, in its own mount namespace.
#
#     unshare --mount --propagation private in-root.sh ROOT SHARED USER PROGRAM ARGUMENT…
#
# SHARED is a folder that both systems see at the same path.
set -e
root=$1 shared=$2 user=$3
shift 3
mount -t proc proc "$root/proc"
mkdir -p "$root$shared"
mount --bind "$shared" "$root$shared"
exec env -u TMPDIR -u NODE_COMPILE_CACHE chroot --userspec="$user" "$root" "$@"
