/** Progress on a terminal: one bar a file, on stderr. In a pipe there is none. */
import { MultiBar, Presets } from 'cli-progress'
import type { Progress } from '../client/types.ts'

export interface Bars {
  start(name: string): Bar
  /** Writes a line to stderr, above the bars. */
  say(line: string): void
  /** Writes a line to stdout; above the bars if they stand on the same terminal. */
  print(line: string): void
  stop(): void
}

export interface Bar {
  show(progress: Progress): void
  end(): void
}

const STAGES = { inspecting: 'looking', compressing: 'compressing', uploading: 'uploading', done: 'done' }
const NAME_COLUMNS = 28

export function createBars(): Bars {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  if (!process.stderr.isTTY) {
    return {
      start: () => ({ show() {}, end() {} }),
      say: (line) => process.stderr.write(`${line}\n`),
      print,
      stop() {},
    }
  }
  const bars = new MultiBar(
    {
      stream: process.stderr,
      format: '{name} {bar} {percentage}% {stage}',
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
      linewrap: false,
      // Ctrl-C is handled by the command.
      gracefulExit: false,
    },
    Presets.shades_classic,
  )
  const say = (line: string) => bars.log(`${line}\n`)
  return {
    start(name) {
      const bar = bars.create(100, 0, { name: fitted(name), stage: 'waiting' })
      return {
        show(progress) {
          if (progress.stage === 'waiting') {
            bar.update({
              stage: `${progress.cause.message}; try ${progress.attempt} in ${Math.ceil(progress.seconds)} s`,
            })
          } else {
            const percent =
              progress.stage === 'uploading' ? progress.percent : progress.stage === 'done' ? 100 : 0
            bar.update(percent, { stage: STAGES[progress.stage] })
          }
        },
        end() {
          bar.stop()
          bars.remove(bar)
        },
      }
    },
    say,
    print: process.stdout.isTTY ? say : print,
    stop() {
      // Lines that were said since the last redraw.
      bars.update()
      bars.stop()
    },
  }
}

function fitted(name: string): string {
  const short = name.length > NAME_COLUMNS ? `…${name.slice(1 - NAME_COLUMNS)}` : name
  return short.padEnd(NAME_COLUMNS)
}
