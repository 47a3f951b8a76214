// Node, V8 and glibc settings of the server, shared by bin/serve.mjs and the single executable.

// Half of V8's default young generation: with 16 MB, a flood of large headers is promoted before it is collected, and the
// process peaks at 260 MB instead of 180.
export const FLAGS = ['--max-semi-space-size=8']

// Settings of libuv and glibc, which read them at process start.
//
// Each upload's flush occupies one of libuv's threads for as long as the disk takes. With libuv's default of four, views from
// files wait behind flushes: where a flush takes 20 ms such a view takes 156 ms, and 55 with eight threads. More threads cost
// uploads an eighth of their rate where flushes are instant (docs/decisions/073).
//
// Memory allocation in glibc (docs/decisions/036). glibc gives each thread its own arena, and memory freed in one arena
// can't be used in another: 25 MB after a wave of downloads. Without fixed thresholds glibc adapts them to the sizes freed
// last. Buffers up to the first threshold come from the heap, where the next one reuses them; larger buffers get pages of
// their own. Up to the second threshold, free memory at the heap's end is kept.
export const ENVIRONMENT = {
  UV_THREADPOOL_SIZE: '8',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '8388608',
}
