/** operator set, pause and resume */
import { Command } from 'commander'
import { SETTING_NAMES, SettingError } from '../../../service/settings.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy } from '../subjects.ts'

export function setCommand(): Command {
  return new Command('set')
    .description('change a setting in every running process; without a value: as the configuration says')
    .argument('[name]', SETTING_NAMES.join(', '))
    .argument('[value]', 'its new value')
    .option('--reason <text>', 'why; it is recorded', '')
    .action((name: string | undefined, value: string | undefined, { reason }: { reason: string }) =>
      name === undefined ? showAll() : change(name, value ?? null, reason),
    )
}

export function pauseCommand(): Command {
  return new Command('pause')
    .description('take no more uploads; everything else goes on')
    .option('--reason <text>', 'why; it is recorded', '')
    .action(({ reason }: { reason: string }) => change('uploads', 'paused', reason))
}

export function resumeCommand(): Command {
  return new Command('resume')
    .description('take uploads again')
    .option('--reason <text>', 'why; it is recorded', '')
    .action(({ reason }: { reason: string }) => change('uploads', 'on', reason))
}

export function confirmRestoreCommand(): Command {
  return new Command('confirm-restore')
    .description(
      'after a restore that could not know what was deleted since: show images and take uploads again',
    )
    .option('--reason <text>', 'why; it is recorded', 'the restore is confirmed')
    .action(({ reason }: { reason: string }) => change('images', null, reason))
}

function change(name: string, value: string | null, reason: string): Promise<void> {
  return onData(async ({ settings }) => {
    try {
      await settings.change({ [name]: value }, reason, actedBy())
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      process.stderr.write(`${error.message}\n`)
      return 2
    }
    print(`${name} ${settings.current()[name as 'uploads']}`)
    return 0
  })
}

function showAll(): Promise<void> {
  return onData(async ({ settings }) => {
    await settings.refresh()
    for (const name of SETTING_NAMES) {
      print(`${name} ${settings.current()[name]}${name in settings.changed() ? '' : ' (as configured)'}`)
    }
    return 0
  })
}
