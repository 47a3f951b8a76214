/** Copies text to the clipboard with a tool of the operating system. */
import { spawn } from 'node:child_process'

/** Tried in order; each takes the text on stdin. */
const TOOLS: [program: string, ...args: string[]][] =
  process.platform === 'darwin'
    ? [['pbcopy']]
    : process.platform === 'win32'
      ? [['clip']]
      : [
          ['wl-copy'],
          ['xclip', '-selection', 'clipboard'],
          ['xsel', '--clipboard', '--input'],
          // WSL and Termux.
          ['clip.exe'],
          ['termux-clipboard-set'],
        ]

/** Only warns if there is no clipboard, e.g. over ssh, because the links are on stdout anyway. */
export async function copyText(text: string): Promise<void> {
  for (const [program, ...args] of TOOLS) {
    if (await pipeInto(program, args, text)) return
  }
  process.stderr.write(
    'Nothing copied: no clipboard found (on Linux, install wl-clipboard, xclip or xsel).\n',
  )
}

/** Waits for `exit`, not `close`: X11 and Wayland tools leave a process behind that serves the text and keeps streams open. */
function pipeInto(program: string, args: string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] })
    child.on('error', () => resolve(false))
    child.stdin?.on('error', () => {})
    child.on('exit', (code) => resolve(code === 0))
    child.stdin?.end(text)
  })
}
