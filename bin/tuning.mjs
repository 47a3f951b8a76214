// How Node, V8 and glibc are set for the server, by whatever starts it: bin/serve.mjs, and the single executable.

// Half of V8's usual space for what is new: in 16 MB a flood of large headers grows old before it is looked at, and the process
// peaks at 260 MB instead of 180.
export const FLAGS = ['--max-semi-space-size=8']

// Memory that glibc returns to the system after a load (docs/decisions/068). It reads these when the process starts.
// glibc gives each thread a heap of its own, and what one frees another can't use: 25 MB after a wave of downloads.
// Where its heap would have to grow for a buffer of a body, glibc takes pages for that one and returns them with it. In the
// heap they would stay: what small things lie between them after a wave of uploads keeps 80 MB of it. What is free at the
// heap's end is kept up to 8 MB, where uploads that come one by one find room; it grows in small steps, which buffers can't fill.
export const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '49152',
  MALLOC_TRIM_THRESHOLD_: '8388608',
  MALLOC_TOP_PAD_: '16384',
}
