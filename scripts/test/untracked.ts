/**
 * Preloaded into each test file of the daily run, before `node:test`: keeps that from tracking every promise, which takes
 * much of a property test's processor time. It only tracks them to name the test whose callback threw an uncaught error. Here
 * such an error fails the file, and is printed with its stack. A run of that file alone, or of everything, names the test.
 */
import { createHook } from 'node:async_hooks'

Object.getPrototypeOf(createHook({})).enable = function enable() {
  return this
}

process.on('uncaughtExceptionMonitor', (error) => console.error(error))
process.on('unhandledRejection', (reason) => console.error(reason))
