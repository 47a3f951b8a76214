/**
 * What the single executable runs: the server, or what its first word says. `operator`: the operator's commands, likewise
 * under the name `pinhole-operator`. `health`: whether the server on this machine answers, for containers without a shell.
 */
import cluster from 'node:cluster'
import { basename } from 'node:path'
import { ENVIRONMENT } from '../../bin/tuning.mjs'
import { main } from '../../src/node/main.ts'
import { runOperator } from '../../src/node/operator/program.ts'

// The path of the executable stands twice, in place of a script's. Node starts a worker with one more.
const words = process.argv.slice(cluster.isWorker ? 3 : 2)
if (basename(process.argv0) === 'pinhole-operator') operate(words)
else if (words[0] === 'operator') operate(words.slice(1))
else if (words[0] === 'health') askHealth()
else serve()

function serve(): void {
  const isTuned = Object.keys(ENVIRONMENT).every((name) => process.env[name] !== undefined)
  // glibc reads it as the process starts: it starts once more, with the same pid.
  if (!isTuned)
    process.execve!(process.execPath, [process.argv0, ...words], { ...ENVIRONMENT, ...process.env })
  // Flags of Node are in the executable; on the command line of a worker they would be its own arguments.
  if (cluster.isPrimary) cluster.setupPrimary({ execArgv: [] })
  void main(words)
}

function operate(arguments_: string[]): void {
  void runOperator(arguments_).then((code) => {
    process.exitCode = code
  })
}

function askHealth(): void {
  fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(
    ({ ok }) => process.exit(ok ? 0 : 1),
    () => process.exit(1),
  )
}
