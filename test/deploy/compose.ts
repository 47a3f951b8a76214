/** A compose file as `podman run` takes it: what `compose.yaml` uses of the format, and nothing that it would pass over. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'

export interface ComposeService {
  name: string
  /** Words for `podman run`, the image and its command last. */
  words: string[]
  /** Services that must run before it, and whether they must be healthy. */
  after: { name: string; isHealthy: boolean }[]
}

export interface ComposeProject {
  /** In the order in which they may start. */
  services: ComposeService[]
  /** The words for `podman network create`. */
  networkWords: string[]
}

type Fields = Record<string, unknown>

/** `env`: for `${NAME}`. Containers and volumes are named `<project>-<name>`; the network is `project`. */
export async function readCompose(
  file: string,
  project: string,
  env: Record<string, string>,
): Promise<ComposeProject> {
  const text = await readFile(file, 'utf8')
  const compose = parse(interpolate(text, env), { merge: true }) as {
    services: Record<string, Fields>
    networks?: { default: { ipam: { config: [{ subnet: string; ip_range: string }] } } }
  }
  const [range] = compose.networks?.default.ipam.config ?? []
  const services = Object.entries(compose.services).map(([name, fields]) => ({
    name,
    words: wordsOf(name, fields, project, dirname(file)),
    after: dependencies(fields.depends_on),
  }))
  return {
    services: inOrder(services),
    networkWords: [...(range ? ['--subnet', range.subnet, '--ip-range', range.ip_range] : []), project],
  }
}

/** `${NAME}`, `${NAME:?}`, `${NAME:-default}`, as Compose reads them. */
function interpolate(text: string, env: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(:\?|:-([^}]*))?\}/g, (_, name: string, mark?: string, fallback = '') => {
    const value = env[name] ?? ''
    if (value === '' && mark === ':?') throw new Error(`${name} is needed`)
    return value === '' ? fallback : value
  })
}

function wordsOf(name: string, fields: Fields, project: string, folder: string): string[] {
  const words = ['--name', `${project}-${name}`, '--network-alias', name]
  let network = project
  for (const [field, value] of Object.entries(fields)) {
    const list = Array.isArray(value) ? value.map(String) : []
    switch (field) {
      case 'image':
      case 'build':
      case 'command':
      case 'depends_on':
        break
      case 'read_only':
        words.push(`--read-only=${value}`)
        break
      case 'tmpfs':
      case 'cap_drop':
      case 'security_opt':
        for (const one of list) words.push(`--${field.replace('_', '-')}`, one)
        break
      case 'ports':
        for (const one of list) words.push('-p', one)
        break
      case 'volumes':
        for (const one of list) {
          words.push('-v', one.startsWith('.') ? resolve(folder, one) : `${project}-${one}`)
        }
        break
      case 'environment':
        for (const [key, text] of Object.entries(value as Fields)) words.push('-e', `${key}=${text}`)
        break
      case 'restart':
        words.push('--restart', String(value))
        break
      case 'stop_grace_period':
        words.push('--stop-timeout', String(Number.parseInt(String(value), 10)))
        break
      case 'networks':
        network += `:ip=${(value as { default: { ipv4_address: string } }).default.ipv4_address}`
        break
      case 'healthcheck':
        words.push(...healthWords(value as Fields))
        break
      default:
        throw new Error(`${name}: ${field} is not understood`)
    }
  }
  const command = fields.command === undefined ? [] : String(fields.command).split(' ')
  return [...words, '--network', network, String(fields.image), ...command]
}

function healthWords({ test, interval, timeout, retries }: Fields): string[] {
  const [kind, command] = test as string[]
  if (kind !== 'CMD-SHELL') throw new Error(`a health check by ${kind} is not understood`)
  return [
    ...['--health-cmd', String(command), '--health-interval', String(interval)],
    ...['--health-timeout', String(timeout), '--health-retries', String(retries)],
  ]
}

function dependencies(value: unknown): { name: string; isHealthy: boolean }[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.map((name) => ({ name: String(name), isHealthy: false }))
  return Object.entries(value as Record<string, { condition: string }>).map(([name, { condition }]) => ({
    name,
    isHealthy: condition === 'service_healthy',
  }))
}

function inOrder(services: ComposeService[]): ComposeService[] {
  const sorted: ComposeService[] = []
  while (sorted.length < services.length) {
    const next = services.find(
      (service) =>
        !sorted.includes(service) &&
        service.after.every(({ name }) => sorted.some((one) => one.name === name)),
    )
    if (next === undefined) throw new Error('services wait for each other')
    sorted.push(next)
  }
  return sorted
}
