import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { CommandError } from '../exit.ts'
import { manifest } from '../manifest.ts'

/** Path of the server's start script: in a checkout, or from the separate server package installed next to this one. */
function serverScript(): string {
  const local = fileURLToPath(new URL('../../../bin/serve.mjs', import.meta.url))
  if (existsSync(local)) return local
  const { server } = manifest.packages
  try {
    return createRequire(import.meta.url).resolve(`${server}/bin/serve.mjs`)
  } catch {
    throw new CommandError(
      'usage',
      `The server is a separate package that is not installed next to this one: ${server}`,
    )
  }
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service on this machine; environment variables set all other options')
    .option('-p, --port <number>', 'port to listen on (PORT)')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('-d, --data <folder>', 'folder for images and the ledger (DATA_DIR)')
    .option('-b, --base-url <url>', 'public address, used in links (BASE_URL)')
    .action(serve)
}

interface ServeFlags {
  port?: string
  host?: string
  data?: string
  baseUrl?: string
}

/** Runs the server in a child process, so that it starts exactly like `npm start`, including its workers. */
async function serve({ port, host, data, baseUrl }: ServeFlags): Promise<void> {
  const env = {
    ...process.env,
    ...(port && { PORT: port }),
    ...(host && { HOST: host }),
    ...(data && { DATA_DIR: data }),
    ...(baseUrl && { BASE_URL: baseUrl }),
  }
  const child = spawn(process.execPath, [...process.execArgv, serverScript()], { stdio: 'inherit', env })
  // On a terminal, Ctrl-C also reaches the server directly. The server treats the duplicate signal as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const [code, signal] = await once(child, 'exit')
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
}
