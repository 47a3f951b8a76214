import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { CommandError } from '../exit.ts'
import { manifest } from '../manifest.ts'

/** In a checkout it is here; else it is a package of its own, beside this one. */
function launcherOfServer(): string {
  const own = fileURLToPath(new URL('../../../bin/serve.mjs', import.meta.url))
  if (existsSync(own)) return own
  const { server } = manifest.packages
  try {
    return createRequire(import.meta.url).resolve(`${server}/bin/serve.mjs`)
  } catch {
    throw new CommandError(
      'usage',
      `The server is a separate package, and not installed beside this one: ${server}`,
    )
  }
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service on this machine; variables of the environment set the rest')
    .option('-p, --port <number>', 'port to listen on (PORT)')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('-d, --data <folder>', 'where images and ledger live (DATA_DIR)')
    .option('-b, --base-url <url>', 'public address, for links (BASE_URL)')
    .action(serve)
}

interface ServeFlags {
  port?: string
  host?: string
  data?: string
  baseUrl?: string
}

/** A process of its own, so that the server's start is the same as `npm start`, workers and all. */
async function serve({ port, host, data, baseUrl }: ServeFlags): Promise<void> {
  const env = {
    ...process.env,
    ...(port && { PORT: port }),
    ...(host && { HOST: host }),
    ...(data && { DATA_DIR: data }),
    ...(baseUrl && { BASE_URL: baseUrl }),
  }
  const child = spawn(process.execPath, [...process.execArgv, launcherOfServer()], { stdio: 'inherit', env })
  // On a terminal Ctrl-C reaches the server too, which takes the second signal for the first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)))
  })
}
