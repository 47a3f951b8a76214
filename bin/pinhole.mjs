#!/usr/bin/env node
// Plain JavaScript, so that an old Node prints a clear message instead of a syntax error.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

// A checkout has the sources. An installed package has them compiled, because Node strips no types in node_modules.
const source = at('../src/cli.ts')
const program = existsSync(source) ? source : at('../lib/cli.js')
// Compiled JavaScript runs on Node 22; stripping types without a warning needs 24.
const OLDEST_NODE = existsSync(source) ? 24 : 22
const ownNode = at('../node_modules/.bin/node')

if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE) {
  const { main } = await import(pathToFileURL(program).href)
  await main(process.argv)
} else if (existsSync(ownNode)) {
  const child = spawn(ownNode, [at('./pinhole.mjs'), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
  })
} else {
  process.stderr.write(
    `pinhole needs Node ${OLDEST_NODE} or later; this is ${process.versions.node}.\n` +
      'Get it from https://nodejs.org.\n',
  )
  process.exitCode = 1
}
