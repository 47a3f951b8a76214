import { Argument, Command } from 'commander'

const SHELLS = { bash, zsh, fish }
type Shell = keyof typeof SHELLS

export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('print a shell completion script: eval "$(pinhole completion bash)" in ~/.bashrc')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action((shell: Shell) => {
      process.stdout.write(SHELLS[shell](shapesOf(program)))
    })
}

interface CommandShape {
  name: string
  description: string
  options: { flags: string[]; description: string; choices: string[] }[]
  choices: string[]
  takesFiles: boolean
}

function shapesOf(program: Command): CommandShape[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ short, long, description, argChoices }) => ({
      flags: [short, long].filter((flag) => flag !== undefined),
      description,
      choices: argChoices ?? [],
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFiles: command.registeredArguments.some((argument) => argument.name().startsWith('file')),
  }))
}

/** Completes options after a dash, commands and choices in their position, and files everywhere else. */
function bash(commands: CommandShape[]): string {
  const cases = commands.map(({ name, options, choices }) => {
    const flags = options.flatMap(({ flags }) => flags).join(' ')
    return `    ${name}) flags="${flags}" choices="${choices.join(' ')}" ;;`
  })
  return `_pinhole() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words= flags= choices=
  COMPREPLY=()
  case "$previous" in
${choiceCases(commands)}
  esac
  if [ -z "$words" ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(' ')}"
    elif [ -n "$choices" ]; then words="$choices"
    fi
    case "$current" in -*) words="$flags" ;; esac
  fi
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  # Without a match, readline completes files (-o default).
}
complete -o bashdefault -o default -F _pinhole pinhole
`
}

function choiceCases(commands: CommandShape[]): string {
  const withChoices = commands.flatMap(({ options }) => options).filter(({ choices }) => choices.length > 0)
  const unique = new Map(withChoices.map(({ flags, choices }) => [flags.join('|'), choices]))
  return [...unique].map(([flags, choices]) => `    ${flags}) words="${choices.join(' ')}" ;;`).join('\n')
}

function zsh(commands: CommandShape[]): string {
  const listed = commands.map(
    ({ name, description }) => `    ${quoted(`${name}:${description.replaceAll(':', ' ')}`)}`,
  )
  const cases = commands.map(({ name, options, choices, takesFiles }) => {
    const specs = options.flatMap(({ flags, description, choices }) =>
      flags.map((flag) => {
        const value = choices.length > 0 ? `:value:(${choices.join(' ')})` : ''
        return quoted(`${flag}[${description.replaceAll(/[[\]:]/g, ' ')}]${value}`)
      }),
    )
    if (choices.length > 0) specs.push(quoted(`*:value:(${choices.join(' ')})`))
    if (takesFiles) specs.push(quoted('*:file:_files'))
    return `    ${name}) _arguments ${specs.join(' ')} ;;`
  })
  return `#compdef pinhole
_pinhole() {
  local -a commands=(
${listed.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; _files; return; fi
  local command="$words[2]"
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
    *) _files ;;
  esac
}
compdef _pinhole pinhole
`
}

function fish(commands: CommandShape[]): string {
  const lines = commands.flatMap(({ name, description, options, choices, takesFiles }) => {
    const prefix = `complete -c pinhole -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c pinhole -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...options.map(({ flags, description, choices }) => {
        const spelled = flags.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        )
        const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ''
        return `${prefix} ${spelled.join(' ')} -d ${quoted(description)}${values}`
      }),
      ...(choices.length > 0 ? [`${prefix} -f -a ${quoted(choices.join(' '))}`] : []),
      ...(takesFiles || choices.length > 0 ? [] : [`${prefix} -f`]),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** Single quotes, for sh, zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
