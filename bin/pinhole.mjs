#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

// A checkout has its sources; an installed package has them compiled, for Node strips no types in node_modules.
const source = at('../src/cli.ts')
const program = existsSync(source) ? source : at('../lib/cli.js')
// Node 22 reads JavaScript; types are stripped by 24 without a word.
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
      'Get one from https://nodejs.org.\n',
  )
  process.exitCode = 1
}
