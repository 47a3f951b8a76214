/** operator set, and its shorthands pause, resume and confirm-restore. */
import { Command } from 'commander'
import { SETTING_NAMES, SettingError, type Settings } from '../../../service/settings.ts'
import { currentActor } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

interface Options {
  reason: string
}

export const setCommand = new Command('set')
  .description('change a setting in all running processes; without a value, reset it to the configuration')
  .argument('[name]', SETTING_NAMES.join(', '))
  .argument('[value]', 'the new value')
  .option('--reason <text>', 'reason, recorded in the audit log', '')
  .action(
    onData(({ settings }, name: string | undefined, value: string | undefined, { reason }: Options) =>
      name === undefined ? showAll(settings) : change(settings, name, value ?? null, reason),
    ),
  )

export const pauseCommand = new Command('pause')
  .description('pause uploads; everything else keeps working')
  .option('--reason <text>', 'reason, recorded in the audit log', '')
  .action(onData(({ settings }, { reason }: Options) => change(settings, 'uploads', 'paused', reason)))

export const resumeCommand = new Command('resume')
  .description('resume uploads')
  .option('--reason <text>', 'reason, recorded in the audit log', '')
  .action(onData(({ settings }, { reason }: Options) => change(settings, 'uploads', 'on', reason)))

export const confirmRestoreCommand = new Command('confirm-restore')
  .description('show images and accept uploads again, after a restore that missed recent deletions')
  .option('--reason <text>', 'reason, recorded in the audit log', 'the restore is confirmed')
  .action(onData(({ settings }, { reason }: Options) => change(settings, 'images', null, reason)))

async function change(settings: Settings, name: string, value: string | null, reason: string) {
  try {
    await settings.change({ [name]: value }, reason, currentActor())
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
  print(`${name} ${settings.current()[name as 'uploads']}`)
  return 0
}

async function showAll(settings: Settings) {
  await settings.refresh()
  for (const name of SETTING_NAMES) {
    print(`${name} ${settings.current()[name]}${name in settings.changed() ? '' : ' (as configured)'}`)
  }
  return 0
}
