/** A typical file server with Fastify: `@fastify/static` for a folder. Arguments: a port and a folder. */
import fastifyStatic from '@fastify/static'
import fastify from 'fastify'

const [port, folder] = process.argv.slice(2) as [string, string]
const app = fastify()
app.register(fastifyStatic, { root: folder, prefix: '/raw/', immutable: true, maxAge: '365d' })
app.get('/healthz', async () => 'ok')
await app.listen({ port: Number(port), host: '127.0.0.1' })
