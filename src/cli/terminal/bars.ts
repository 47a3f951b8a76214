/** Progress bars on a terminal, one per file, on stderr. There are none if stderr is not a terminal that can move its cursor. */
import { fstatSync } from 'node:fs'
import type { Progress } from '../../client/types.ts'
import { printable } from './text.ts'

export interface Bars {
  start(name: string): Bar
  /** Writes a line to stderr, above the bars. */
  log(line: string): void
  /** Writes a line to stdout, above the bars if both go to the same terminal. */
  print(line: string): void
  /** Erases the bars, and writes the lines that waited for that. */
  flush(): void
}

interface Bar {
  show(progress: Progress): void
  end(): void
}

const STAGES = { inspecting: 'inspecting', compressing: 'compressing', uploading: 'uploading', done: 'done' }
const NAME_COLUMNS = 28
const BAR_COLUMNS = 24
const REDRAW_MS = 80

/** Turns line wrapping off (DECAWM), so that each bar takes exactly one row. */
const NO_WRAP = '\x1b[?7l'
const WRAP = '\x1b[?7h'

export function createBars(): Bars {
  return process.stderr.isTTY && process.env.TERM !== 'dumb' ? barsOn(process.stderr) : noBars()
}

function noBars(): Bars {
  return {
    start: () => ({ show() {}, end() {} }),
    log: (line) => process.stderr.write(`${line}\n`),
    print: (line) => process.stdout.write(`${line}\n`),
    flush() {},
  }
}

/** Leaves the cursor visible and below the bars, so that nothing needs restoring however the process ends. */
function barsOn(terminal: NodeJS.WriteStream): Bars {
  const bars = new Set<{ line: string }>()
  const heldLines: string[] = []
  const isPiped = isPipe(process.stdout.fd)
  let drawn = 0
  let timer: NodeJS.Timeout | undefined
  const eraseSequence = () => (drawn > 0 ? `\x1b[${drawn}A\r\x1b[J` : '')
  /** Redraws the bars in one write, with `above` in their old place. */
  const draw = (above = '') => {
    clearTimeout(timer)
    timer = undefined
    const lines = [...bars].slice(0, Math.max(1, terminal.rows - 2)).map(({ line }) => `${line}\n`)
    terminal.write(`${eraseSequence()}${above}${NO_WRAP}${lines.join('')}${WRAP}`)
    drawn = lines.length
  }
  const drawSoon = () => {
    timer ??= setTimeout(draw, REDRAW_MS).unref()
  }
  return {
    start(name) {
      const bar = { line: lineOf(name, 0, 'waiting') }
      bars.add(bar)
      drawSoon()
      return {
        show(progress) {
          bar.line = lineOf(name, percentOf(progress), stageOf(progress))
          drawSoon()
        },
        end() {
          bars.delete(bar)
          drawSoon()
        },
      }
    },
    log: (line) => draw(`${line}\n`),
    print(line) {
      // The pipe's reader, e.g. tee, may write to this terminal at any time, so piped lines wait for `flush`.
      if (isPiped) heldLines.push(line)
      else if (process.stdout.isTTY) draw(`${line}\n`)
      else process.stdout.write(`${line}\n`)
    },
    flush() {
      clearTimeout(timer)
      timer = undefined
      terminal.write(eraseSequence())
      drawn = 0
      for (const line of heldLines.splice(0)) process.stdout.write(`${line}\n`)
    },
  }
}

function isPipe(fd: number): boolean {
  const stats = fstatSync(fd)
  return stats.isFIFO() || stats.isSocket()
}

function percentOf(progress: Progress): number {
  return progress.stage === 'uploading' ? progress.percent : progress.stage === 'done' ? 100 : 0
}

function stageOf(progress: Progress): string {
  if (progress.stage !== 'waiting') return STAGES[progress.stage]
  const { cause, attempt, seconds } = progress
  return `${printable(cause.message)}; attempt ${attempt} in ${Math.ceil(seconds)} s`
}

function lineOf(name: string, percent: number, stage: string): string {
  const shown = printable(name)
  const short = shown.length > NAME_COLUMNS ? `…${shown.slice(1 - NAME_COLUMNS)}` : shown
  const done = Math.round((BAR_COLUMNS * percent) / 100)
  const bar = '█'.repeat(done) + '░'.repeat(BAR_COLUMNS - done)
  return `${short.padEnd(NAME_COLUMNS)} ${bar} ${percent}% ${stage}`
}
