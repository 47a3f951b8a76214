/**
 * Entry point of the single executable. Runs the server, or the first argument's command: `operator`, or `health`, which checks
 * that the local server responds, for containers without a shell.
 */
import cluster from 'node:cluster'
import { isIPv6 } from 'node:net'
import { ENVIRONMENT } from '../../bin/tuning.mjs'
import { main } from '../../src/node/main.ts'
import { runOperator } from '../../src/node/operator/program.ts'

// The executable's path appears twice, in place of a script's. Node starts workers with one more argument.
const args = process.argv.slice(cluster.isWorker ? 3 : 2)
if (args[0] === 'operator') runOperatorCommand(args.slice(1))
else if (args[0] === 'health') checkHealth()
else serve()

function serve(): void {
  const isTuned = Object.keys(ENVIRONMENT).every((name) => process.env[name] !== undefined)
  // glibc reads these at process start, so restart the program with the same PID.
  if (!isTuned)
    process.execve!(process.execPath, [process.argv0, ...args], { ...ENVIRONMENT, ...process.env })
  // The executable contains Node's flags. Passed to a worker's command line they would be program arguments.
  if (cluster.isPrimary) cluster.setupPrimary({ execArgv: [] })
  void main(args)
}

function runOperatorCommand(operatorArgs: string[]): void {
  void runOperator(operatorArgs).then((code) => {
    process.exitCode = code
  })
}

function checkHealth(): void {
  const host = process.env.HOST || '127.0.0.1'
  // Linux connects to this machine for 0.0.0.0 and ::, too.
  fetch(`http://${isIPv6(host) ? `[${host}]` : host}:${process.env.PORT || 3000}/healthz`).then(
    ({ ok }) => process.exit(ok ? 0 : 1),
    () => process.exit(1),
  )
}
