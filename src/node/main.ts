/** Starts one process, or several that share a port. */
import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import { type Config, describeConfig, parseConfig } from '../config.ts'
import { loadEnvFile } from './env-file.ts'
import { linesOf } from './error-lines.ts'
import { createLog } from './log.ts'
import { commandFor, VERSION } from './manifest.ts'
import { describeData } from './open/data-folder.ts'
import { startServer } from './server.ts'
import { type Address, superviseWorkers } from './workers.ts'

/** Hosts that only this machine can reach. */
const LOOPBACK = /^(127\.|::1$|localhost$)/

const HELP = `Pinhole: anonymous image sharing.

Usage: ${commandFor('bin/serve.mjs', 'npm start --')} [--env-file FILE]

  --env-file FILE  read variables from a file in systemd's EnvironmentFile= format; the environment takes precedence
  --version        print the version and exit

Environment variables, all optional:

${describeConfig()}
`

export async function main(args: string[]): Promise<void> {
  // A full disk under the output must not stop the server.
  process.stdout.on('error', () => {})
  const { help, version, 'env-file': envFile } = readOptions(args)
  if (help || version) {
    process.stdout.write(help ? HELP : `${VERSION}\n`)
    return
  }
  const config = readConfig(envFile)
  try {
    if (cluster.isWorker || config.workers === 1) await serve(config)
    else await superviseWorkers(config, (at) => announce(config, at))
  } catch (error) {
    createLog(config.logLevel).debug({ err: error }, 'start failed')
    fail(linesOf(error))
  }
}

async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const server = await startServer(config, log)
  if (cluster.isWorker) process.send?.({ baseUrl: server.baseUrl, port: server.port })
  else announce(config, server)
  let isStopping = false
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    server.stop().then(
      () => process.exit(0),
      (err) => {
        log.error({ err }, 'the server did not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        'env-file': { type: 'string' },
      },
    }).values
  } catch (error) {
    return fail([(error as Error).message])
  }
}

function readConfig(envFile: string | undefined): Config {
  try {
    // Workers inherit the environment.
    if (envFile !== undefined) loadEnvFile(envFile)
    return parseConfig(process.env)
  } catch (error) {
    return fail(linesOf(error))
  }
}

function announce(config: Config, at: Address): void {
  // Behind a proxy, the public URL and the listening address differ.
  const listening = config.baseUrl === null ? '' : `, listening on http://${hostOf(config)}:${at.port}`
  const lines = [`Pinhole is at ${at.baseUrl}${listening}`, ...describeData(config)]
  if (config.baseUrl === null && !LOOPBACK.test(config.host)) {
    lines.push(`Links begin with ${at.baseUrl}: set BASE_URL to an address that other machines can reach.`)
  }
  // Pinhole itself speaks plain HTTP.
  if (at.baseUrl.startsWith('https:') && config.trustedProxies.length === 0) {
    lines.push('All visitors share one quota: set TRUSTED_PROXIES to the address of the proxy in front.')
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

function hostOf({ host }: Config): string {
  return host.includes(':') ? `[${host}]` : host
}

function fail(lines: string[]): never {
  process.stderr.write(`Pinhole did not start:\n${lines.map((line) => `  ${line}\n`).join('')}`)
  process.exit(1)
}
