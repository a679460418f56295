import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type Ask, Unavailable } from '#platform/bus/ask'
import { answerErasure } from '#platform/bus/erasing'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { personErasures } from '#shared/messages/person'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { erasure as chainRelayer } from '../../../../services/chain-relayer/operations/erase'
import { answerErase } from '../../../../services/gateway/users/erase'
import { erasure as payments } from '../../../../services/payments/review/erase'
import { erasure as payouts } from '../../../../services/payouts/person/erase'
import { erased, eraseWallet, listErased } from './erase'
import { readPerson } from './read'

// The four services respond in this process, each with its own role.

let server: ScratchPostgres
let owner: Sql
let sql: Sql
let ask: Ask
const open: Database[] = []
const wallet = `0x${'ab'.repeat(20)}` as const
const other = `0x${'cd'.repeat(20)}` as const
/** Claims on the holders of wallets, by the chain. */
const claims = new Map<string, readonly string[]>()
const log = openLog('test', 'silent')

beforeAll(async () => {
  server = await startScratchPostgres()
  owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
  const as = (role: 'gateway' | 'payments' | 'payouts' | 'chain_relayer') => {
    const url = server.urlAs(role, server.passwords[role])
    const database = openDatabase({ url, name: role, log, onFatal: () => {}, max: 2 })
    open.push(database)
    return { database, log }
  }
  const answers = [
    answerErasure(as('chain_relayer'), personErasures['chain-relayer'], chainRelayer, {
      claimsOn: async (about) => claims.get(about) ?? [],
    }),
    answerErasure(as('payouts'), personErasures.payouts, payouts),
    answerErasure(as('payments'), personErasures.payments, payments),
    answerErase({ ...as('gateway'), clock: Date.now } as never),
  ]
  const bySubject = new Map(answers.map((one) => [one.question.subject, one]))
  ask = (async (question: { subject: string }, request: unknown) =>
    bySubject.get(question.subject)!.answer(request)) as unknown as Ask
})
afterAll(async () => {
  await Promise.all(open.map((database) => database[Symbol.asyncDispose]()))
  await Promise.all([owner, sql].map((one) => one?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

const base = { pair: 'USD/IDR', currency: 'IDR', account: 'ID', rate_minor_per_usd: 1 }
/** Returns the part of provider ids that stands for the wallet, because such ids do not contain the wallet itself. */
const mark = (of: string) => of.slice(2, 6)
const insertPayment = (of: string, state: string) =>
  owner`insert into payments.payments ${owner({
    ...base,
    id: `pay-${of}`,
    kind: 'topup',
    state,
    wallet: of,
    fiat_minor: 1,
    ausd_micro: 1,
    quote_id: `qp-${of}`,
    request_fingerprint: 't',
    provider_payment_id: `py-${mark(of)}`,
    checkout_id: `ps-${of}`,
    checkout_url: 'https://pay.example/sari',
  })}`
const insertCashout = (of: string, state: string) =>
  owner`insert into payouts.payouts ${owner({
    id: `out-${of}`,
    wallet: of,
    state,
    rate_minor_per_usd: 1,
    ausd_micro: 1,
    fiat_minor: 1,
    quote_id: `q-${of}`,
    request_fingerprint: 't',
    authorizer: of,
    authorization_nonce: `n-${of}`,
    authorization: {},
    channel_code: 'ID_BCA',
    bank_details: 'box',
    account_mark: 'mark',
    bank_details_key_id: 'k',
    provider_payout_id: `disb-${of}`,
  })}`
const insertDead = (schema: string, payload: object, redrivenAt: Date | null) =>
  owner`insert into ${owner(`${schema}.dead_letter`)} ${owner({
    consumer: schema,
    message_id: `m-${Bun.randomUUIDv7()}`,
    subject: 's',
    reason: 'r',
    payload: payload as never,
    redriven_at: redrivenAt,
  })}`

beforeEach(async () => {
  claims.clear()
  const tables = [
    'gateway.users',
    'gateway.identities',
    'gateway.identity_links',
    'gateway.outbox',
    'gateway.identity_rechecks',
    'gateway.dead_letter',
    'payments.dead_letter',
    'payments.payments',
    'payments.resolutions',
    'payments.wallets',
    'payouts.payouts',
    'chain_relayer.operation',
    'chain_relayer.giveback_request',
    'ops.outcomes',
    'ops.commands',
  ]
  await owner.unsafe(tables.map((name) => `delete from ${name}`).join(';'))
  for (const of of [wallet, other]) {
    await owner`insert into gateway.users (wallet, country) values (${of}, 'ID')`
    await owner`insert into gateway.identities (wallet, state, provider, provider_ref, decided_at, revision)
      values (${of}, 'verified', 'sumsub', ${`applicant-${mark(of)}`}, now() - interval '1 day', 5)`
    await owner`insert into gateway.identity_links (wallet, provider, provider_ref)
      values (${of}, 'sumsub', ${`inquiry-${mark(of)}`})`
    await owner`insert into gateway.identity_rechecks (wallet, provider, linked_at, progress, next_check_at)
      values (${of}, 'sumsub', now(), 'in_review', now())`
    await insertPayment(of, 'credited')
    await owner`insert into payments.resolutions (deed_id, payment_id, resolution, decided_by, reason)
      values (gen_random_uuid(), ${`pay-${of}`}, 'accept', 'olga', 'Sari called')`
    await owner`insert into payments.wallets (wallet, frozen, revision) values (${of}, false, 1)`
    await insertCashout(of, 'returned')
    await owner`insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
      values (${`op-${of}`}, 'giveback', ${of}, ${of}, '{}', 'h', 0, 'settled')`
    await owner`insert into chain_relayer.giveback_request
        (tx_hash, log_index, asked_by, reason, wallet, state, refusal, decided_at)
      values (${`0x${of.slice(2, 4).repeat(32)}`}, 0, 'olga', 'Sari sent it', ${of}, 'refused', 'no', now())`
    await insertDead('gateway', { body: `{"applicantId":"applicant-${mark(of)}"}` }, new Date())
    await insertDead('payments', { body: `{"id":"py-${mark(of)}"}` }, new Date())
  }
})

const asked = { wallet, reason: 'request of 3 November', by: 'budi' }
const run = (apply = true) => eraseWallet({ ask, sql }, { ...asked, apply })

const personal = /Sari|applicant-|inquiry-|https:|country":"ID"|ID_BCA|in_review|sealed|"mark"/
/** Returns the stored data of a wallet, including the dead letters about its items. */
const storedAbout = async (of: string) => {
  const dead = await owner`
    select payload::text from gateway.dead_letter where payload::text like ${`%-${mark(of)}%`}
    union all select payload::text from payments.dead_letter where payload::text like ${`%-${mark(of)}%`}`
  const rows = await readPerson(sql, of)
  return JSON.stringify([rows, dead])
}

test('the list of erased wallets prints no line while there is none, because a restore takes each line for a wallet', async () => {
  const said: string[] = []
  process.env.DATABASE_OPS_URL = server.urlAs('ops', server.passwords.ops)
  try {
    expect(await erased.run([], (text) => said.push(text))).toBe(0)
  } finally {
    delete process.env.DATABASE_OPS_URL
  }
  expect(said).toEqual([])
})

test('an erasure empties what names a person, of this wallet only, and keeps every row', async () => {
  const before = await readPerson(sql, wallet)
  expect(await storedAbout(wallet)).toMatch(personal)
  expect(await run()).toMatchObject({ done: 'personal data erased' })
  expect(await storedAbout(wallet)).not.toMatch(personal)
  const after = await readPerson(sql, wallet)
  const counted = (stored: typeof before) => stored.map(({ table, rows }) => [table, rows.length])
  expect(counted(after)).toEqual(counted(before))
  const dead = await owner`select payload::text as text from gateway.dead_letter where payload = '{}'`
  expect(dead).toHaveLength(1)
  const others = await storedAbout(other)
  for (const one of ['Sari called', 'Sari sent', 'applicant-', 'inquiry-', 'ID_BCA']) expect(others).toContain(one)
})

test('an erasure leaves the sealed bank details of a paid cash-out, says until when, and nobody is shown them', async () => {
  await owner`update payouts.payouts set state = 'paid', updated_at = '2026-11-28T10:00:00Z' where wallet = ${wallet}`
  const kept = 'the bank details of 1 paid cash-out stay sealed for the law until 2032-11-28'
  expect(await run()).toMatchObject({ done: expect.stringContaining(kept) })
  const [row] =
    await owner`select bank_details, channel_code, account_mark from payouts.payouts where wallet = ${wallet}`
  expect(row).toEqual({ bank_details: 'box', channel_code: 'ID_BCA', account_mark: null })
})

test('an erasure ends the approval, so that the sweep takes the flag off the chain', async () => {
  await run()
  const [row] = await owner`select state, revision, check_at, flag_settled_at, provider_ref
    from gateway.identities where wallet = ${wallet}`
  expect(row).toMatchObject({ state: 'reset', flag_settled_at: null, provider_ref: null })
  expect(Number(row!.revision)).toBeGreaterThan(5)
  expect(row!.check_at).not.toBeNull()
})

test('an erasure is announced, and recorded without the data', async () => {
  expect(await run()).toMatchObject({ done: 'personal data erased' })
  const told = await owner`select subject, payload from gateway.outbox`
  expect(told).toMatchObject([{ subject: 'identity.erased', payload: { wallet } }])
  expect(await listErased(sql)).toMatchObject([{ wallet }])
  const audit = await owner`select d.*, o.said from ops.commands d join ops.outcomes o on o.command_id = d.id`
  expect(audit).toMatchObject([{ verb: 'persons erase', target: wallet, asked_by: 'budi' }])
  expect(JSON.stringify(audit)).not.toMatch(personal)
})

test('an erasure can be ordered again for a note that was stored while the last one was carried out', async () => {
  await run()
  await owner`update chain_relayer.giveback_request
    set reason = 'Sari again', decided_at = (select max(recorded_at) from ops.outcomes)
    where wallet = ${wallet}`
  await owner`update gateway.identities set check_at = null where wallet = ${wallet}`
  expect(await run()).not.toHaveProperty('earlier')
  expect(await storedAbout(wallet)).not.toMatch(personal)
})

test('an erasure can be ordered again once there is new personal data', async () => {
  await run()
  await owner`update gateway.identities set check_at = null where wallet = ${wallet}`
  await owner`update gateway.users set country = 'MY' where wallet = ${wallet}`
  const again = await run()
  expect(again).toMatchObject({ done: 'personal data erased' })
  expect(again).not.toHaveProperty('earlier')
  await owner`update gateway.identities set check_at = null where wallet = ${wallet}`
  await owner`update chain_relayer.giveback_request set reason = 'Sari again', decided_at = now()
    where wallet = ${wallet}`
  expect(await run()).not.toHaveProperty('earlier')
  expect(await storedAbout(wallet)).not.toMatch(personal)
  const [user] = await owner`select country from gateway.users where wallet = ${wallet}`
  expect(user!.country).toBeNull()
})

test('security: an erasure that is ordered again erases what came late for items from before it', async () => {
  await run()
  const now = new Date()
  await owner`update gateway.identities set check_at = null, provider_ref = 'applicant-late', decided_at = ${now}
    where wallet = ${wallet}`
  await owner`update gateway.identity_rechecks set progress = 'in_review', progressed_at = ${now} where wallet = ${wallet}`
  await owner`insert into payments.resolutions (deed_id, payment_id, resolution, decided_by, reason)
    values (gen_random_uuid(), ${`pay-${wallet}`}, 'accept', 'olga', 'Sari called again')`
  await insertDead('gateway', { body: '{"applicantId":"applicant-late"}' }, now)
  expect(await storedAbout(wallet)).toMatch(personal)
  expect(await run()).not.toHaveProperty('earlier')
  expect(await storedAbout(wallet)).not.toMatch(personal)
})

test('without --apply nothing is changed and nothing is recorded', async () => {
  const before = await storedAbout(wallet)
  expect(await run(false)).toMatchObject({
    refused: 'nothing prevents it; nothing was changed: add --apply to erase',
  })
  expect(await storedAbout(wallet)).toBe(before)
  expect(await owner`select * from ops.commands`).toHaveLength(0)
})

test.each<[string, (wallet: string) => Promise<unknown>, string]>([
  [
    'a payment is paid and not credited',
    () => owner`update payments.payments set state = 'paid' where wallet = ${wallet}`,
    `payments: payment pay-${wallet} is paid`,
  ],
  [
    'a payment is in review',
    () => owner`update payments.payments set state = 'review' where wallet = ${wallet}`,
    `payments: payment pay-${wallet} is review`,
  ],
  [
    'a settlement can still be reversed',
    () => owner`update payments.payments set state = 'repaid', held = true where wallet = ${wallet}`,
    `payments: payment pay-${wallet} is repaid`,
  ],
  [
    'the wallet is frozen',
    () => owner`update payments.wallets set frozen = true where wallet = ${wallet}`,
    'payments: the wallet is frozen for a loss',
  ],
  [
    'the bank has not answered',
    () => owner`update payouts.payouts set state = 'paying' where wallet = ${wallet}`,
    `payouts: cash-out out-${wallet} is paying`,
  ],
  [
    'a paid cash-out is watched for a reversal',
    () => owner`update payouts.payouts set state = 'paid', next_check_at = now() where wallet = ${wallet}`,
    `payouts: cash-out out-${wallet} is still watched`,
  ],
  [
    'a send is not final',
    () => owner`insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
      values ('send', 'send', 'send-1', ${wallet}, '{}', 'h', 0, 'assigned')`,
    'chain-relayer: send send-1 is not final on chain',
  ],
  [
    'the verified flag is not final',
    () => owner`update gateway.identities set check_at = now() where wallet = ${wallet}`,
    'gateway: an order of the verdict verified is not on chain',
  ],
  [
    'a dead letter about an item is open',
    () =>
      owner`update payments.dead_letter set redriven_at = null, message_id = 'm1'
        where payload::text like ${`%py-${mark(wallet)}%`}`,
    'payments: dead letter m1 is open',
  ],
])('an erasure is refused in every service while %s', async (_, makeOpen, refused) => {
  await makeOpen(wallet)
  const before = await storedAbout(wallet)
  expect(await run(false)).toEqual({ id: '', refused })
  expect(await run()).toMatchObject({ refused })
  expect(await storedAbout(wallet)).toBe(before)
})

test('an erasure is refused in every service while there is a claim on the person, and done once there is none', async () => {
  claims.set(wallet, ['the wallet owes 5 micro-AUSD', 'the wallet has defaulted'])
  const before = await storedAbout(wallet)
  const refused = 'chain-relayer: the wallet owes 5 micro-AUSD; the wallet has defaulted'
  expect(await run(false)).toEqual({ id: '', refused })
  expect(await run()).toMatchObject({ refused })
  expect(await storedAbout(wallet)).toBe(before)
  expect(await eraseWallet({ ask, sql }, { ...asked, wallet: other, apply: true })).toMatchObject({
    done: 'personal data erased',
  })
  claims.clear()
  expect(await run()).toMatchObject({ done: 'personal data erased' })
})

test('an erasure that a service leaves unanswered is completed by the same command', async () => {
  const failing = (async (question: { subject: string }, request: { check: boolean }) => {
    if (question.subject === 'gateway.person.erase' && !request.check) throw new Error('gone')
    return ask(question as never, request as never)
  }) as unknown as Ask
  await expect(eraseWallet({ ask: failing, sql }, { ...asked, apply: true })).rejects.toThrow('outcome unknown')
  expect(await storedAbout(wallet)).toMatch(personal)
  expect(await run()).toMatchObject({ done: 'personal data erased' })
  expect(await storedAbout(wallet)).not.toMatch(personal)
  expect(await owner`select * from ops.commands`).toHaveLength(1)
})

test('an erasure that ends halfway does not claim that nothing was done', async () => {
  let left = 6 // The first six questions are answered: four checks, and two services that erase.
  const half = ((question: never, request: never) =>
    left-- > 0 ? ask(question, request) : Promise.reject(new Unavailable('gone'))) as Ask
  const asked = { wallet, reason: 'ticket 9', by: 'olga', apply: true }
  const failed = eraseWallet({ sql, ask: half }, asked)
  await expect(failed).rejects.toThrow('no response, outcome unknown. Run the same command again')
  expect(await eraseWallet({ sql, ask }, asked)).toMatchObject({ done: 'personal data erased' })
})
