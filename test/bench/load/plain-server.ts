import { parseArgs } from 'node:util'
import { exampleRecord } from '#shared/api/record'

/** This yardstick is a bare Bun server that returns `--body`, by default a record. */
const { values } = parseArgs({ options: { body: { type: 'string', default: '' } } })
const body = values.body || JSON.stringify(exampleRecord)
const headers = { 'Content-Type': 'application/json' }
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    if (request.method === 'POST') await request.text()
    return new Response(body, { headers })
  },
})
console.log(server.port)
// The parent holds the other end of this pipe.
for await (const _ of Bun.stdin.stream());
process.exit(0)
