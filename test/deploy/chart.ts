/** A Helm chart as `helm template` renders it: the actions that the chart here uses, and nothing that it would pass over. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

type Fields = Record<string, unknown>

/** The objects of the chart in `folder`. `values`: in place of those of values.yaml. */
export async function renderChart(folder: string, release: string, values: Fields = {}): Promise<Fields[]> {
  const yaml = async (file: string) => parse(await readFile(join(folder, file), 'utf8'))
  const chart = await yaml('Chart.yaml')
  const dot: Fields = {
    Release: { Name: release },
    // As Go names its fields.
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Values: { ...(await yaml('values.yaml')), ...values },
  }
  const files = (await readdir(join(folder, 'templates'))).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, 'templates', file), 'utf8')))
  return texts
    .map((text) => parse(render(text, dot), { strict: true }) as Fields | null)
    .filter((object) => object !== null)
}

function render(text: string, dot: Fields): string {
  const whole = text.replace(
    /\{\{- if ([.\w]+) \}\}\n?([\s\S]*?)\{\{- end \}\}/g,
    (_, path: string, inside: string) => (lookUp(path, dot, true) ? inside : ''),
  )
  return whole.replace(
    /([ \t]*\n?[ \t]*)\{\{(-?) (.*?) \}\}/g,
    (_, space: string, trim: string, action: string) => {
      const value = evaluate(action, dot)
      return (trim === '' ? space : '') + value
    },
  )
}

function evaluate(action: string, dot: Fields): string {
  const [first = '', ...pipes] = action.split(' | ')
  const isYaml = first.startsWith('toYaml ')
  const value = lookUp(first.replace('toYaml ', ''), dot, pipes.length > 0)
  let text = isYaml ? stringify(value).trimEnd() : `${value ?? ''}`
  for (const pipe of pipes) {
    const [name, argument = ''] = pipe.split(' ')
    if (name === 'nindent') text = `\n${text}`.replaceAll('\n', `\n${' '.repeat(Number(argument))}`)
    else if (name === 'default') text ||= `${lookUp(argument, dot, false)}`
    else throw new Error(`${pipe} is not understood`)
  }
  return text
}

/** `.Values.image.tag`. Helm writes nothing for a value that is not there; here that is a mistake, unless `mayBeEmpty`. */
function lookUp(path: string, dot: Fields, mayBeEmpty: boolean): unknown {
  if (!/^(\.\w+)+$/.test(path)) throw new Error(`${path} is not understood`)
  let value: unknown = dot
  for (const name of path.slice(1).split('.')) value = (value as Fields | undefined)?.[name]
  if (value === undefined || (value === '' && !mayBeEmpty)) throw new Error(`there is no ${path}`)
  return value
}
