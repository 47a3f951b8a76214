// How Node, V8 and glibc are set for the server, by whatever starts it: bin/serve.mjs, and the single executable.

// Half of V8's usual space for what is new: in 16 MB a flood of large headers grows old before it is looked at, and the process
// peaks at 260 MB instead of 180.
export const FLAGS = ['--max-semi-space-size=8']

// How glibc gives memory: it reads these when the process starts (docs/decisions/068).
// glibc gives each thread a heap of its own, and what one frees another can't use: 25 MB after a wave of downloads.
// Without a threshold glibc moves it, by what was freed last. A buffer up to the first comes from the heap, where the next finds it;
// a larger one has pages of its own. What is free at the heap's end is kept up to the second.
export const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '8388608',
}
