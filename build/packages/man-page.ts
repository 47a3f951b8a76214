/** Generates the command's manual page from its `--help`, in man(7) format. */
import type { Command } from 'commander'
import { EXIT_CODES } from '../../src/cli/exit.ts'

/** `version`: the package's. */
export function manPage(program: Command, version: string): string {
  const name = program.name()
  const lines = [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
    '.SH NAME',
    `${name} \\- compress pictures, upload them, get links`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '.I FILE...',
    '.br',
    `.B ${name}`,
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    ...paragraph(program.description()),
    `.B ${name}`,
    '.I FILE...',
    'is shorthand for',
    `.BR "${name} upload" .`,
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => section(name, command)),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, text(meaning)]),
    'With several files, the code is that of the first one that failed.',
    '.SH ENVIRONMENT',
    '.TP',
    '.B PINHOLE_SERVER',
    'Address of the service.',
    '.TP',
    '.B XDG_DATA_HOME, XDG_CONFIG_HOME',
    'Where links with their deletion keys, and the service\\(aqs address, are kept.',
  ]
  return `${lines.join('\n')}\n`
}

function section(name: string, command: Command): string[] {
  const words = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? word : `[${word}]`
  })
  const help = command.createHelp()
  return [
    `.SS ${text([name, command.name(), ...words].join(' '))}`,
    ...paragraph(command.description()),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .flatMap((option) => ['.TP', `.B ${text(option.flags)}`, ...paragraph(help.optionDescription(option))]),
  ]
}

function paragraph(words: string): string[] {
  return words.split('\n').map(text)
}

/** Escapes text, so that no word is a request and hyphens can be copied. */
function text(words: string): string {
  const escaped = words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('…', '...')
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}
