// Loaded into the server with `NODE_OPTIONS=--import`. The first SIGUSR2 starts profiling the main thread, the second writes the
// profile to PROFILE_PATH. Plain JavaScript, because the launcher loads it too.
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import process from 'node:process'

const INTERVAL_US = 200
let session

process.on('SIGUSR2', async () => {
  if (session === undefined) {
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
    await session.post('Profiler.start')
  } else {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(process.env.PROFILE_PATH, JSON.stringify(profile))
  }
})
