/** Puts text on the clipboard, by the tool that the system has for it. */
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
          // Windows' own, from within WSL; Android's, in Termux.
          ['clip.exe'],
          ['termux-clipboard-set'],
        ]

/** Says so where there is no clipboard, e.g. over ssh, for the links are on stdout anyway. */
export async function copyText(text: string): Promise<void> {
  for (const [program, ...args] of TOOLS) {
    if (await pipedInto(program, args, text)) return
  }
  process.stderr.write('There is no clipboard to copy to (on Linux: install wl-clipboard, xclip or xsel).\n')
}

/** Tools of X11 and Wayland stay behind to hold the text: their streams are not waited for. */
function pipedInto(program: string, args: string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] })
    child.on('error', () => resolve(false))
    child.stdin?.on('error', () => {})
    child.on('exit', (code) => resolve(code === 0))
    child.stdin?.end(text)
  })
}
