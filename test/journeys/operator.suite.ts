import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { verifiedUser } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'
import { operate } from '../support/stack'

let stack: Stack
let outside: ExternalControls
let sql: Sql
let person: Person
beforeAll(async () => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  sql = postgres(stack.info.ops.databaseUrl, { max: 1, onnotice: () => {} })
  person = await verifiedUser(stack, { ausdMicro: 50_000_000n, wei: 10n ** 17n })
})
afterAll(() => sql?.end({ timeout: 1 }))

const because = ['--reason', 'ticket 12', '--by', 'sari']
/** Runs a command. One that got no response is repeated as the same request. */
const ops = (...words: string[]) =>
  waitUntil(`an answer to ${words.join(' ')}`, async () => {
    const answer = await operate(stack, ...words)
    if (answer.complaint !== '') throw new Error(answer.complaint)
    return answer
  })
const topup = async () => {
  const { id: quoteId } = await person.quote('USD/IDR')
  return person.post('/topups', { amount: '50000', method: 'qr', quoteId })
}
const send = async () => {
  const to = `0x${'77'.repeat(20)}` as const
  const authorization = await person.sign({ to, valueMicro: 1_000_000n })
  return person.post('/sends', { authorization })
}
const asked = {
  topups: topup,
  payouts: async () => person.post('/cashouts', await cashoutBody(stack, person)),
  relaying: send,
} as const
const words = { topups: 'topups_paused', payouts: 'cashouts_paused', relaying: 'relaying_paused' }
const isPaused = ({ headers }: Reply) => /_paused$/.test(headers.get('x-error-code') ?? '')
/** Returns the response of an operation, which may be the refusal that a pause causes. It retries a slow service. */
const told = (what: keyof typeof asked) => answered(asked[what], { meant: isPaused })

describe('while an operator has paused', () => {
  test.each(['topups', 'payouts', 'relaying'] as const)(
    '%s, users get the start of the pause, also after a restart; repeating the command changes nothing',
    async (what) => {
      const first = await ops('pause', what, ...because)
      expect(first.code).toBe(0)
      expect(first.said).toMatch(new RegExp(`^${what} paused since 20\\S+$`))
      const again = await ops('pause', what, '--reason', 'me too', '--by', 'dewi')
      expect(again.code).toBe(0)
      expect(again.said).toBe(`${first.said} (already done by sari, ${again.said.split('sari, ')[1]}`)
      const owner = { topups: 'payments', payouts: 'payouts', relaying: 'chain-relayer' } as const
      await stack.process(owner[what]).stop('SIGKILL')
      stack.process(owner[what]).start()
      const refused = await waitUntil('the refusal', async () => {
        const reply = await asked[what]()
        return reply.headers.get('x-error-code') === words[what] && reply
      })
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('60')
      expect(refused.body.error).toMatch(/\(paused since 20[0-9-]+T[0-9:]+Z\)$/)
      const others = (Object.keys(asked) as (keyof typeof asked)[]).filter(
        (other) => other !== what && !(what === 'relaying' && other === 'payouts'),
      )
      for (const other of others) expect((await told(other)).status).toBe(200)

      expect((await ops('resume', what, ...because)).said).toMatch(/ running since \S+$/)
      expect((await ops('resume', what, ...because)).said).toContain('(already done by sari, ')
      expect((await told(what)).status).toBe(200)
      const commands = await sql`
        select verb, d.asked_by, d.reason, outcome from ops.commands d
        left join ops.outcomes o on o.command_id = d.id where target = ${what} order by asked_at`
      expect([...commands]).toEqual([
        { verb: 'pause', asked_by: 'sari', reason: 'ticket 12', outcome: 'done' },
        { verb: 'resume', asked_by: 'sari', reason: 'ticket 12', outcome: 'done' },
      ])
    },
  )

  test('an unknown activity, nothing changes', async () => {
    for (const wrong of [
      ['pause', 'everything', ...because],
      ['pause', 'payouts'],
    ]) {
      const { code, said } = await ops(...wrong)
      expect(code).toBe(2)
      expect(said).toStartWith('usage: ')
    }
    expect((await sql`select 1 from ops.commands where target = 'everything'`).length).toBe(0)
  })
})

describe('a payment in review', () => {
  test('is listed, shown, and refunded once by two operators at once', async () => {
    const { paymentId: id } = (await told('topups')).body
    await outside.control(`sessions/${id}/pay`, { channel_code: 'DANA', amount: 40_000 })
    const listed = await waitUntil('the list', async () => {
      const { code, said } = await ops('review', 'list')
      return code === 1 && said
    })
    expect(listed).toContain(`${id}  topup review, amount_differs  Rp 50,000 due, Rp 40,000 paid`)
    const both = await Promise.all(
      ['sari', 'dewi'].map((by) => ops('review', 'resolve', id, 'refund', '--reason', 'ticket 13', '--by', by)),
    )
    for (const { code, said } of both) {
      expect(code).toBe(0)
      expect(said).toMatch(/refund to the payer ordered|refund was decided by/)
    }
    await waitUntil('the money being back', async () => {
      const { said } = await ops('review', 'show', id)
      return said.includes(`${id}  topup refunded`) && said.includes(': succeeded, requested 1')
    })
    const late = await ops('review', 'resolve', id, 'credit', ...because)
    expect(late.code).toBe(1)
    expect(late.said).toContain('refused: refund was decided by')
    expect(await ops('review', 'list')).toMatchObject({
      code: 0,
      said: 'no payments need review',
    })
    const { refunds } = await outside.book()
    expect(refunds!.filter(({ reference_id: of }) => of?.startsWith(`ordered-${id}`))).toHaveLength(1)
  })
})

describe('a payment of another amount', () => {
  test.each([
    ['credit', 'credited'],
    ['accept', 'accepted'],
  ] as const)('with decision %s becomes %s', async (word, status) => {
    const { paymentId: id } = (await told('topups')).body
    await outside.control(`sessions/${id}/pay`, { channel_code: 'QRIS', amount: 40_000 })
    await waitUntil('the decision', async () => (await ops('review', 'resolve', id, word, ...because)).code === 0)
    expect(await entryIn(person, id, status)).toMatchObject({
      fiat: word === 'credit' ? '40000' : '50000',
    })
    const again = await ops('review', 'resolve', id, word, '--reason', 'me too', '--by', 'dewi')
    expect(again.code).toBe(0)
    expect(again.said).toContain('(already done by sari, ')
  })
})

test('ops wallets lists no frozen wallet, and clears none', async () => {
  expect(await ops('wallets', 'list')).toMatchObject({
    code: 0,
    said: 'no frozen wallets, and no needless repayments',
  })
  const { code, said } = await ops('wallets', 'clear', person.wallet, ...because)
  expect(code).toBe(1)
  expect(said).toContain('was never frozen')
})

describe('ops doctor', () => {
  test('lists what differs from the page of the first live day, and can read every part', async () => {
    const { code, said } = await ops('doctor')
    expect(code).toBe(1)
    expect(said).toContain('#pilot-limits  PILOT_WALLETS is not set: every wallet can top up.')
    expect(said).toContain('#pilot-limits  CASHOUT_ALL_DAY_MAX_USD is not set: Cash-outs of all wallets have no limit.')
    expect(said).toContain('#hold  The hold of card payments is 172800 s')
    expect(said).toContain('#webhooks  Account MY has never delivered a webhook.')
    expect(said).not.toContain('could not be read')
    // The suite above has paid in rupiah.
    expect(said).not.toContain('Account ID has never')
  })
})

describe('a bank account that an operator refuses', () => {
  const accountNumber = '900123456789'

  test('gets no cash-out until it is allowed again, and no number is recorded', async () => {
    const cashout = async () => person.post('/cashouts', await cashoutBody(stack, person, { accountNumber }))
    const isRefused = ({ headers }: Reply) => headers.get('x-error-code') === 'bank_account_refused'
    const first = await ops('accounts', 'refuse', 'ID_BCA', accountNumber, ...because)
    expect(first.said).toMatch(/^acc_[\w-]{43} is refused$/)
    const account = first.said.split(' ')[0]!
    expect((await ops('accounts', 'refuse', account, ...because)).said).toContain('(already done by sari, ')
    const refused = await answered(cashout, { meant: isRefused })
    expect(refused.status).toBe(400)
    expect(refused.body.error).toContain('Use another one')
    expect((await ops('accounts', 'list')).said).toContain(`${account}  ID_BCA  refused by sari: ticket 12`)
    expect((await ops('accounts', 'allow', account, ...because)).said).toBe(`${account} is allowed`)
    expect((await answered(cashout, { meant: isRefused })).status).toBe(200)
    expect(await ops('accounts', 'list')).toMatchObject({ code: 0, said: 'no refused bank accounts' })
    const { items } = JSON.parse((await ops('find', '--digits', accountNumber.slice(-8), '--json')).said)
    expect(items).toMatchObject([{ kind: 'cashout', wallet: person.wallet.toLowerCase() }])
    const stored = await sql`select * from ops.commands c left join ops.outcomes o on o.command_id = c.id`
    expect(stored.filter(({ verb }) => String(verb).startsWith('accounts'))).toHaveLength(2)
    expect(JSON.stringify([stored, await sql`select * from payouts.refused_accounts`])).not.toContain(accountNumber)
  })
})

test('an operator releases the rate of a day, and sees the rates in use', async () => {
  const rates = (...words: string[]) => ops('rates', ...words)
  expect((await rates('show')).said).toContain('usd-myr: no day is released')
  const day = new Date().toISOString().slice(0, 10)
  expect((await rates('release', 'usd-myr', day, ...because)).said).toStartWith(`the rate of ${day} is released`)
  expect((await rates('release', 'usd-myr', day, ...because)).said).toContain('already done by sari')
  const { said } = await rates('show')
  expect(said).toContain(`usd-myr: the rate of ${day} is released`)
  expect(said).toMatch(/^usd-idr: no day is released\n {2}\S{10} {2}16250 by fixed, in use$/m)
})
