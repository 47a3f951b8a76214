/** Onion services: circuits in place of addresses, and pages that announce the onion URL. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { clientAddress, trustedProxies } from '../src/http/headers/client-address.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { serverFor } from './support/processes/server.ts'
import { post, store } from './support/upload.ts'

const CIRCUIT = 'fc00:dead:beef:4dd3::17:2a'
const ONION_URL = 'http://aokkqcpfsoe23at4qfulsp3hz3tqrhue5cm276fj2jvy7slkiiiqktyd.onion'

it('treats each circuit as a separate client, if named by a trusted proxy', () => {
  const trusted = trustedProxies(['127.0.0.1/32'])
  const one = clientAddress('127.0.0.1', CIRCUIT, trusted)
  const other = clientAddress('127.0.0.1', 'fc00:dead:beef:4dd3::17:2b', trusted)
  assert.equal(one.isCircuit, true)
  assert.notEqual(one.address, other.address)
  assert.notEqual(one.network, other.network)
  const near = clientAddress('127.0.0.1', 'fc00:dead:beef:4dd4::17:2a', trusted)
  assert.equal(near.isCircuit, undefined)
  assert.equal(clientAddress('198.51.100.1', CIRCUIT, trusted).isCircuit, undefined, 'untrusted header')
})

it('requires a challenge for a circuit’s first upload, and sends Onion-Location with pages', async (t) => {
  const server = await serverFor(t, { ONION_URL, CHALLENGE: 'on' })
  assert.equal((await post(server.url, gif(), CIRCUIT)).json().error, 'challenge-required')
  const challenge = await request(server.url, 'GET', '/api/challenge', {
    headers: { 'X-Forwarded-For': CIRCUIT },
  })
  assert.equal(challenge.status, 200, challenge.text)
  assert.ok(challenge.text.includes('token'), challenge.text)
  const { id } = await store(server.url, gif(), '198.51.100.7')
  for (const path of ['/', '/terms', `/${id}`]) {
    const page = await request(server.url, 'GET', path)
    assert.equal(page.headers.get('Onion-Location'), ONION_URL + path)
  }
  for (const path of [`/raw/${id}`, '/nothing-here', '/?x=1', '/openapi.json']) {
    assert.equal((await request(server.url, 'GET', path)).headers.get('Onion-Location'), null, path)
  }
})
