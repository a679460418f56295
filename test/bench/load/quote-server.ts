import { parseArgs } from 'node:util'
import { Elysia } from 'elysia'
import { connect, type NatsConnection } from 'nats'

/**
 * These are the yardsticks of `POST /quote`: `bare` is an Elysia handler that returns a fixed quote; `asking` gets it
 * by one NATS request from `answering`.
 */
const quote = {
  id: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
  pair: 'USD/IDR',
  rate: '16250',
  expiresAt: '2026-11-21T07:01:00.000Z',
}
const subject = 'bench.quote'

const serve = (answer: () => object | Promise<object>) =>
  new Elysia().post('/quote', answer).listen({ hostname: '127.0.0.1', port: 0 }).server!.port

function startAnswering(nc: NatsConnection): void {
  const answer = JSON.stringify(quote)
  nc.subscribe(subject, { callback: (_, message) => void message.respond(answer) })
}

const text = { type: 'string', default: '' } as const
const { values } = parseArgs({ options: { role: text, nats: text, user: text, password: text } })
const { role, nats: servers, user, password: pass } = values
if (role === 'bare') console.log(serve(() => quote))
else {
  const nc = await connect({ servers, user, pass })
  if (role === 'answering') {
    startAnswering(nc)
    await nc.flush()
    console.log('ready')
  } else console.log(serve(async () => (await nc.request(subject, '{"pair":"USD/IDR"}')).json<object>()))
}
// The parent holds the other end of this pipe.
for await (const _ of Bun.stdin.stream());
process.exit(0)
