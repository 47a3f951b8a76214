/** Checks configurations that cannot run here against published schemas, and for consistency with the service. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { IngressRoute, Middleware, ServersTransport } from '@kubernetes-models/traefik/traefik.io/v1alpha1'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1'
import { parse, parseAllDocuments } from 'yaml'
import { describeConfig } from '../../src/config.ts'
import { LIMITS } from '../../src/node/http/limits.ts'
import { DEFAULT_MAX_UPLOAD_BYTES } from '../../src/protocol.ts'
import { folderOf } from '../support/folder.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { ROOT } from '../support/processes/process.ts'
import { unknownFields } from './unknown-fields.ts'

// biome-ignore lint/suspicious/noExplicitAny: parsed YAML is checked by schemas
type Parsed = any

const KINDS = { ConfigMap, Deployment, Ingress, PodDisruptionBudget, Secret, Service } as const

const shipped = (path: string) => readFile(join(ROOT, 'deploy', path), 'utf8')
const variables = new Set(
  [...describeConfig().matchAll(/\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*\b/g)].map(([name]) => name),
)

async function kubernetes(): Promise<Record<string, Parsed>> {
  const documents = parseAllDocuments(await shipped('kubernetes/pinhole.yaml'), { strict: true })
  for (const { errors } of documents) assert.deepEqual(errors, [])
  return Object.fromEntries(
    documents.map((document) => document.toJS()).map((object) => [object.kind, object]),
  )
}

test('the manifest is valid by Kubernetes’ schemas, without unknown fields', async () => {
  const objects = await kubernetes()
  assert.deepEqual(Object.keys(objects).sort(), Object.keys(KINDS).sort())
  for (const [kind, object] of Object.entries(objects)) {
    const Model = KINDS[kind as keyof typeof KINDS] as unknown as typeof Deployment
    assert.equal(object.apiVersion, Model.apiVersion, kind)
    assert.deepEqual(unknownFields(Model, object), [], kind)
  }
})

test('detects unknown fields and wrong types in a manifest', async () => {
  const { Deployment: deployment } = await kubernetes()
  deployment.spec.template.spec.containers[0].livenessprobe = {}
  assert.deepEqual(unknownFields(Deployment, deployment), ['spec.template.spec.containers.0.livenessprobe'])
  deployment.spec.replicas = 'three'
  assert.throws(() => unknownFields(Deployment, deployment), /replicas must be integer/)
})

test('the manifest’s objects are consistent, and match the service', async () => {
  const {
    ConfigMap: map,
    Deployment: deployment,
    Ingress: ingress,
    PodDisruptionBudget: budget,
    Secret: secret,
    Service: service,
  } = await kubernetes()
  const pod = deployment.spec.template.spec
  const [container] = pod.containers
  assert.deepEqual(deployment.spec.selector.matchLabels, deployment.spec.template.metadata.labels)
  assert.deepEqual(service.spec.selector, deployment.spec.template.metadata.labels)
  assert.deepEqual(budget.spec.selector, deployment.spec.selector)
  for (const name of ['OBJECTS_URL', 'LEDGER_URL']) assert.ok(secret.stringData[name], name)
  assert.deepEqual(
    container.envFrom.map((from: Parsed) => from.configMapRef?.name ?? from.secretRef?.name),
    [map.metadata.name, secret.metadata.name],
  )
  for (const name of Object.keys({ ...map.data, ...secret.stringData })) assert.ok(variables.has(name), name)
  const ports = container.ports.map(({ name }: Parsed) => name)
  for (const name of [
    container.livenessProbe.httpGet.port,
    container.readinessProbe.httpGet.port,
    ...service.spec.ports.map(({ targetPort }: Parsed) => targetPort),
  ]) {
    assert.ok(ports.includes(name), name)
  }
  for (const rule of ingress.spec.rules) {
    for (const { backend } of rule.http.paths) {
      assert.equal(backend.service.name, service.metadata.name)
      assert.ok(service.spec.ports.some(({ name }: Parsed) => name === backend.service.port.name))
    }
    assert.ok(ingress.spec.tls.some(({ hosts }: Parsed) => hosts.includes(rule.host)))
    assert.equal(new URL(map.data.BASE_URL).host, rule.host)
  }
  // As in the image.
  const dockerfile = await shipped('docker/Dockerfile')
  assert.ok(dockerfile.includes(`EXPOSE ${container.ports[0].containerPort}\n`))
  assert.equal(/^USER (\d+)/m.exec(dockerfile)?.[1], `${pod.securityContext.runAsUser}`)
  const volumes = pod.volumes.map(({ name }: Parsed) => name)
  assert.deepEqual(
    container.volumeMounts.map(({ name }: Parsed) => name),
    volumes,
  )
  assert.ok(
    container.volumeMounts.some(({ mountPath }: Parsed) => dockerfile.includes(`DATA_DIR=${mountPath}\n`)),
  )
  // Otherwise a few addresses that upload slowly could have the pod evicted.
  const room = Number(/^(\d+)Gi$/.exec(pod.volumes[0].emptyDir.sizeLimit)![1]) * 2 ** 30
  assert.ok(room > LIMITS.maxConcurrentReads * DEFAULT_MAX_UPLOAD_BYTES)
  assert.equal(container.livenessProbe.httpGet.path, '/healthz')
  // If the store or the ledger is down it is down for all: without any ready pod, no image would be served.
  assert.equal(container.readinessProbe.httpGet.path, '/healthz')
  const pauseMs = container.lifecycle.preStop.sleep.seconds * 1000
  assert.ok(pod.terminationGracePeriodSeconds * 1000 > pauseMs + LIMITS.stopMs)
})

const skip = await skipWithout('helm')
const CHART = join(ROOT, 'deploy/helm')

async function rendered(release: string, ...args: string[]): Promise<Parsed[]> {
  const { stdout } = await promisify(execFile)('helm', ['template', release, CHART, ...args])
  return parseAllDocuments(stdout, { strict: true })
    .map((document) => document.toJS())
    .filter((object) => object !== null)
}

function templateOf(objects: Parsed[]): Parsed {
  return objects.find(({ kind }) => kind === 'Deployment').spec.template
}

test('the Helm chart renders the manifest’s objects, except for the secret', { skip }, async () => {
  const { Secret: secret, ...objects } = await kubernetes()
  const made = await rendered('pinhole')
  delete templateOf(made).metadata.annotations
  assert.deepEqual(Object.fromEntries(made.map((object) => [object.kind, object])), objects)
  const values: Parsed = parse(await shipped('helm/values.yaml'))
  assert.equal(values.secret, secret.metadata.name)
  await promisify(execFile)('helm', ['lint', '--strict', CHART])
})

test('a chart without a host renders no ingress, and a release name is used consistently', {
  skip,
}, async () => {
  const objects = await rendered('other', '--set', 'ingress.host=')
  assert.ok(objects.length > 3)
  assert.ok(!objects.some(({ kind }) => kind === 'Ingress'))
  assert.ok(objects.every(({ metadata }) => metadata.name === 'other'))
})

test('numbers and booleans in chart values become strings, and changed values restart the servers', {
  skip,
}, async (t) => {
  const file = join(await folderOf(t), 'values.yaml')
  await writeFile(
    file,
    'config: { MAX_UPLOAD_BYTES: 26214400, STRIP_METADATA: off, UPLOADS_PER_DAY: "50" }\n',
  )
  const objects = await rendered('pinhole', '--values', file)
  const { data } = objects.find(({ kind }) => kind === 'ConfigMap')
  const { MAX_UPLOAD_BYTES, STRIP_METADATA, UPLOADS_PER_DAY } = data
  assert.deepEqual([MAX_UPLOAD_BYTES, STRIP_METADATA, UPLOADS_PER_DAY], ['26214400', 'off', '50'])
  assert.notDeepEqual(templateOf(objects), templateOf(await rendered('pinhole')))
})

test('deployment files only set variables that the service has', async () => {
  const compose = parse(await shipped('docker/compose.yaml'), { merge: true })
  const one = parse(await shipped('docker/one.yaml'))
  const names = [compose.services.server1, one.services.pinhole].flatMap(({ environment }) =>
    Object.keys(environment),
  )
  for (const [, name] of (await shipped('unraid/pinhole.xml')).matchAll(/Target="([A-Z_]+)"/g))
    names.push(name!)
  for (const [, name] of (await shipped('debian/pinhole.env')).matchAll(/^#?([A-Z_]+)=/gm)) names.push(name!)
  assert.ok(names.length > 4)
  const unit = await shipped('systemd/pinhole.service')
  for (const [, name] of unit.matchAll(/^Environment=(\w+)=/gm)) names.push(name!)
  for (const name of names) assert.ok(variables.has(name), name)
})

test('the Traefik configuration is valid by its schemas, and consistent', async () => {
  const { http }: Parsed = parse(await shipped('traefik/pinhole.yaml'))
  const main: Parsed = parse(await shipped('traefik/traefik.yaml'))
  const faultsOf = (
    kind: typeof Middleware | typeof ServersTransport | typeof IngressRoute,
    spec: object,
  ) => {
    const { apiVersion, kind: name } = kind
    return unknownFields(kind, { apiVersion, kind: name, metadata: { name: 'pinhole' }, spec })
  }
  for (const spec of Object.values<Parsed>(http.middlewares)) {
    assert.deepEqual(faultsOf(Middleware, spec), [])
  }
  for (const spec of Object.values<Parsed>(http.serversTransports)) {
    assert.deepEqual(faultsOf(ServersTransport, spec), [])
    // Shorter than the servers' timeout: otherwise requests could be sent on a connection that is just being closed.
    assert.ok(Number.parseInt(spec.forwardingTimeouts.idleConnTimeout, 10) * 1000 < LIMITS.idleMs)
  }
  for (const { loadBalancer } of Object.values<Parsed>(http.services)) {
    const { servers, serversTransport, healthCheck, ...rest } = loadBalancer
    assert.deepEqual(rest, {})
    // A cluster service replaces the file's URLs.
    const services = [{ name: 'pinhole', port: Number(new URL(servers[0].url).port), serversTransport }]
    assert.deepEqual(faultsOf(IngressRoute, { routes: [{ match: 'Host(`x`)', kind: 'Rule', services }] }), [])
    assert.ok(Object.hasOwn(http.serversTransports, serversTransport))
    // Not part of that schema.
    assert.deepEqual(healthCheck, { path: '/healthz', interval: '1s', timeout: '3s' })
    assert.equal(services[0]!.port, 3000)
  }
  for (const router of Object.values<Parsed>(http.routers)) {
    assert.ok(Object.hasOwn(http.services, router.service))
    for (const name of router.middlewares) assert.ok(Object.hasOwn(http.middlewares, name))
    for (const name of router.entryPoints) assert.ok(Object.hasOwn(main.entryPoints, name))
  }
  assert.ok(Object.hasOwn(main.certificatesResolvers, main.entryPoints.websecure.http.tls.certResolver))
  assert.ok(Object.hasOwn(main.entryPoints, main.entryPoints.web.http.redirections.entryPoint.to))
  assert.equal(main.accessLog, undefined, 'it would contain keys')
})
