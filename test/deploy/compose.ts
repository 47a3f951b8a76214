/** Translates a compose file to `podman run`: supports only what `compose.yaml` uses, and rejects everything else. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'

export interface ComposeService {
  name: string
  /** Arguments for `podman run`, with the image and its command last. */
  args: string[]
  /** Services that must run before this one, and whether they must be healthy. */
  after: { name: string; isHealthy: boolean }[]
}

export interface ComposeProject {
  /** In start order. */
  services: ComposeService[]
  /** Arguments for `podman network create`. */
  networkArgs: string[]
}

type Fields = Record<string, unknown>

/** `env` supplies `${NAME}`. Containers and volumes are named `<project>-<name>`; the network is `project`. */
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
    args: argsOf(name, fields, project, dirname(file)),
    after: dependencies(fields.depends_on),
  }))
  return {
    services: inOrder(services),
    networkArgs: [...(range ? ['--subnet', range.subnet, '--ip-range', range.ip_range] : []), project],
  }
}

/** Substitutes `${NAME}`, `${NAME:?}` and `${NAME:-default}` like Compose. */
function interpolate(text: string, env: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(:\?|:-([^}]*))?\}/g, (_, name: string, mark?: string, fallback = '') => {
    const value = env[name] ?? ''
    if (value === '' && mark === ':?') throw new Error(`${name} must be set`)
    return value === '' ? fallback : value
  })
}

function argsOf(name: string, fields: Fields, project: string, folder: string): string[] {
  const args = ['--name', `${project}-${name}`, '--network-alias', name]
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
        args.push(`--read-only=${value}`)
        break
      case 'tmpfs':
      case 'cap_drop':
      case 'security_opt':
        for (const item of list) args.push(`--${field.replace('_', '-')}`, item)
        break
      case 'ports':
        for (const item of list) args.push('-p', item)
        break
      case 'volumes':
        for (const item of list) {
          args.push('-v', item.startsWith('.') ? resolve(folder, item) : `${project}-${item}`)
        }
        break
      case 'environment':
        for (const [key, text] of Object.entries(value as Fields)) args.push('-e', `${key}=${text}`)
        break
      case 'restart':
        args.push('--restart', String(value))
        break
      case 'stop_grace_period':
        args.push('--stop-timeout', String(Number.parseInt(String(value), 10)))
        break
      case 'networks':
        network += `:ip=${(value as { default: { ipv4_address: string } }).default.ipv4_address}`
        break
      case 'healthcheck':
        args.push(...healthArgs(value as Fields))
        break
      default:
        throw new Error(`${name}: unsupported field ${field}`)
    }
  }
  const command = fields.command === undefined ? [] : String(fields.command).split(' ')
  return [...args, '--network', network, String(fields.image), ...command]
}

function healthArgs({ test, interval, timeout, retries }: Fields): string[] {
  const [kind, command] = test as string[]
  if (kind !== 'CMD-SHELL') throw new Error(`unsupported health check kind ${kind}`)
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
    if (next === undefined) throw new Error('services depend on each other')
    sorted.push(next)
  }
  return sorted
}
