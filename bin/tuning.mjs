// How Node, V8 and glibc are set for the server, by whatever starts it: bin/serve.mjs, and the single executable.

// Half of V8's usual space for what is new: in 16 MB a flood of large headers grows old before it is looked at, and the process
// peaks at 260 MB instead of 180.
export const FLAGS = ['--max-semi-space-size=8']

// How libuv and glibc are set: they read these when the process starts.
//
// Each flush of an upload holds one of libuv's threads for as long as the disk takes. With libuv's default of four, views from files
// wait behind flushes: where a flush takes 20 ms such a view takes 156 ms, and 55 with eight threads. More cost uploads an eighth
// of their rate where a flush takes no time (docs/decisions/073).
//
// How glibc gives memory (docs/decisions/036).
// glibc gives each thread a heap of its own, and what one frees another can't use: 25 MB after a wave of downloads.
// Without a threshold glibc moves it, by what was freed last. A buffer up to the first comes from the heap, where the next finds it;
// a larger one has pages of its own. What is free at the heap's end is kept up to the second.
export const ENVIRONMENT = {
  UV_THREADPOOL_SIZE: '8',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '8388608',
}
