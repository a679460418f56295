import { afterEach, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { natsAnswers } from '#infra/local/nats'
import { postgresAnswers } from '#infra/local/postgres'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { personal } from '#infra/sandbox/identity/personal'
import { groupStack } from '../runner/group'
import { everythingWritten } from '../support/database'
import { newUser } from '../support/people'

/** Intervals in ms, short so that no test waits long for a missed verdict. */
export const identityRechecks = {
  IDENTITY_RECHECK_OPEN_MS: '1000',
  IDENTITY_RECHECK_MS: '1000',
  RECHECK_EVERY_MS: '500',
}

let stack: Stack
let outside: ExternalControls

async function userWithLink(): Promise<Person> {
  const person = await newUser(stack)
  expect((await person.insist('/me/verification', {})).body).toMatchObject({ verified: false })
  return person
}

async function verified(): Promise<Person> {
  const person = await userWithLink()
  await outside.identity(person.wallet, 'approved')
  await becomes(person, true)
  return person
}

const becomes = (person: Person, verified: boolean) =>
  person.until(`verified: ${verified}`, (me) => me.verified === verified)

/** Sends a verdict that is answered `recorded` and then lost with the stream's store. */
async function recordedAndLost(person: Person, verdict: 'approved' | 'rejected') {
  const [postgres, gateway, nats] = [stack.process('postgres'), stack.process('gateway'), stack.process('nats-server')]
  await postgres.stop('SIGQUIT') // Recording needs only JetStream, and nothing can be handled while Postgres is down.
  await outside.identity(person.wallet, verdict)
  await waitUntil('the answer to the webhook', async () => {
    const told = (await outside.book()).webhooks!.filter(({ body }) =>
      JSON.stringify(body).includes(person.wallet.toLowerCase()),
    )
    return told.at(-1)?.attempts.at(-1)?.body === '{"status":"recorded"}'
  })
  await gateway.stop('SIGKILL')
  await nats.stop('SIGKILL')
  rmSync(join(stack.dir, 'nats'), { recursive: true, force: true })
  nats.start()
  postgres.start()
  await waitUntil('nats-server being ready', () => natsAnswers(stack.info.nats.monitor))
  await waitUntil('Postgres answering', () => postgresAnswers(stack.adminUrl))
  await stack.provision()
  gateway.start()
}

const onGroupStack = () => {
  beforeAll(() => {
    stack = groupStack()
    outside = outsideOf(stack.info)
  })
  afterEach(() => outside.calm())
}

/** Defines the tests of verdicts that were recorded, which are the same for each provider. */
export const recordedVerdictsAreKept = () => {
  onGroupStack()

  test('a rejection lost after "recorded" is still withdrawn on the chain', async () => {
    const person = await verified()
    await recordedAndLost(person, 'rejected')
    await becomes(person, false)
  })

  test('an approval lost after "recorded" is still set on the chain', async () => {
    const person = await userWithLink()
    await recordedAndLost(person, 'approved')
    await becomes(person, true)
  })
}

/** Defines the tests of one provider's verdicts. Two groups run them, maybe in one process. */
export const verdictsAreNotMissed = () => {
  onGroupStack()

  test('a user gets a hosted link, is verified when approved, and loses the flag when declined', async () => {
    const person = await newUser(stack)
    const link = await person.insist('/me/verification', {})
    expect(link).toMatchObject({ status: 200, body: { verified: false } })
    expect((await fetch(link.body.url)).status).toBe(200)
    await outside.identity(person.wallet, 'approved')
    await becomes(person, true)
    await outside.identity(person.wallet, 'rejected')
    await becomes(person, false)
  })

  test('without webhooks, an approval and its withdrawal still reach the chain', async () => {
    const person = await userWithLink()
    await outside.faults({ webhooks: { drop: 1 } })
    await outside.identity(person.wallet, 'approved')
    await becomes(person, true)
    await outside.identity(person.wallet, 'rejected')
    await becomes(person, false)
  })

  test('while the provider returns errors nothing changes', async () => {
    const person = await verified()
    await outside.faults({ webhooks: { drop: 1 }, api: { errorRate: 1 } })
    await outside.identity(person.wallet, 'rejected')
    await waitUntil('three questions without an answer', () => {
      const log = readFileSync(join(stack.dir, 'logs/gateway.log'), 'utf8')
      return (
        log
          .split('\n')
          .filter((line) => line.includes(person.wallet.toLowerCase()) && line.includes('identity recheck failed'))
          .length >= 3
      )
    })
    expect((await person.me()).verified).toBe(true)
    await outside.calm()
    await becomes(person, false)
  })

  test('security: no personal data of the provider is stored', async () => {
    const store = join(stack.dir, 'nats')
    const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const kept = [
      await everythingWritten(stack),
      ...files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')),
    ].join('\n')
    for (const value of Object.values(personal)) expect(kept.includes(value)).toBe(false)
  })
}
