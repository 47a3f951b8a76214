/** operator set, and its shorter forms pause, resume and confirm-restore. */
import { Command } from 'commander'
import { SETTING_NAMES, SettingError, type Settings } from '../../../service/settings.ts'
import { actedBy } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

interface Given {
  reason: string
}

export const setCommand = new Command('set')
  .description('change a setting in every running process; without a value: as the configuration says')
  .argument('[name]', SETTING_NAMES.join(', '))
  .argument('[value]', 'its new value')
  .option('--reason <text>', 'why; it is recorded', '')
  .action(
    onData(({ settings }, name: string | undefined, value: string | undefined, { reason }: Given) =>
      name === undefined ? showAll(settings) : change(settings, name, value ?? null, reason),
    ),
  )

export const pauseCommand = new Command('pause')
  .description('take no more uploads; everything else goes on')
  .option('--reason <text>', 'why; it is recorded', '')
  .action(onData(({ settings }, { reason }: Given) => change(settings, 'uploads', 'paused', reason)))

export const resumeCommand = new Command('resume')
  .description('take uploads again')
  .option('--reason <text>', 'why; it is recorded', '')
  .action(onData(({ settings }, { reason }: Given) => change(settings, 'uploads', 'on', reason)))

export const confirmRestoreCommand = new Command('confirm-restore')
  .description(
    'after a restore that could not know what was deleted since: show images and take uploads again',
  )
  .option('--reason <text>', 'why; it is recorded', 'the restore is confirmed')
  .action(onData(({ settings }, { reason }: Given) => change(settings, 'images', null, reason)))

async function change(settings: Settings, name: string, value: string | null, reason: string) {
  try {
    await settings.change({ [name]: value }, reason, actedBy())
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
