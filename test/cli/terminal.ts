/** What a person sees: a real terminal emulator reads what a command wrote. */
import xterm from '@xterm/headless'

/** Rows of text, without the empty ones at the end. */
export async function screenOf(written: Uint8Array, columns = 100, rows = 40): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: false })
  await new Promise<void>((resolve) => terminal.write(written, resolve))
  const { active } = terminal.buffer
  const lines = Array.from(
    { length: active.length },
    (_, i) => active.getLine(i)?.translateToString(true) ?? '',
  )
  terminal.dispose()
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
