/** Preload for a server (`--import`): from SIGTERM on, SQLite can't close a database. */
import { DatabaseSync } from 'node:sqlite'

process.on('SIGTERM', () => {
  DatabaseSync.prototype.close = () => {
    throw new Error('the disk is gone')
  }
})
