import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { pilotValues } from '#infra/configuration/pilot'
import { processes } from '#infra/configuration/processes'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { personal } from '#infra/sandbox/identity/personal'
import { okOf } from '#shared/client/client'
import { creditedTopUp } from '../support/flows'
import { newUser, verifiedUser } from '../support/people'
import { answered, cashoutBody } from '../support/requests'
import { operate, ownStack } from '../support/stack'

const key = generatePrivateKey()
const pilot = {
  ...Object.fromEntries(pilotValues),
  PILOT_WALLETS: privateKeyToAccount(key).address,
  PAYER_NAME_SENT: 'yes',
  CASHOUT_ALL_DAY_MAX_USD: '7',
}
/** Returns the values of the pilot that a process reads. The margin of holds is of days, which the holds of suites have not. */
const pilotOf = (process: string) =>
  Object.fromEntries(Object.entries(pilot).filter(([name]) => name in processes[process]! && name !== 'HOLD_MARGIN_MS'))

let stack: Stack
let invited: Person
let other: Person
beforeAll(async () => {
  stack = await ownStack({
    env: Object.fromEntries(['gateway', 'payments', 'payouts', 'chain-relayer'].map((name) => [name, pilotOf(name)])),
  })
  invited = await newUser(stack, { ausdMicro: 50_000_000n }, key)
  // Somebody verified this wallet before the pilot.
  other = await verifiedUser(stack, { ausdMicro: 50_000_000n })
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const topup = async (person: Person) => {
  const { id: quoteId } = await person.quote('USD/IDR')
  return person.post('/topups', { amount: '50000', method: 'bank', quoteId })
}
/** Returns status and code of the answer, whose request may be repeated while a service is slow. */
const codeOf = async (ask: () => ReturnType<Person['post']>) => {
  const { status, headers } = await answered(ask)
  return [status, headers.get('x-error-code')]
}

describe('on a pilot day', () => {
  test('a wallet that is not invited neither tops up, cashes out nor gets a verification', async () => {
    const stranger = await newUser(stack)
    const cashOut = async () => other.post('/cashouts', await cashoutBody(stack, other))
    expect(await codeOf(() => stranger.post('/me/verification', undefined))).toEqual([403, 'not_in_pilot'])
    expect(await codeOf(() => topup(other))).toEqual([403, 'not_in_pilot'])
    expect(await codeOf(cashOut)).toEqual([403, 'not_in_pilot'])
  })

  test('it may settle a debt and send its AUSD', async () => {
    const { id: quoteId } = await other.quote('USD/IDR')
    expect(await codeOf(() => other.post('/settlements', { quoteId }))).toEqual([400, 'nothing_owed'])
    const authorization = await other.sign({ to: `0x${'77'.repeat(20)}`, valueMicro: 1_000_000n })
    expect((await answered(() => other.post('/sends', { authorization }))).status).toBe(200)
  })

  test('the invited wallet gets verified and tops up with its verified name, which no log has', async () => {
    expect((await answered(() => invited.post('/me/verification', undefined))).status).toBe(200)
    const outside = outsideOf(stack.info)
    await outside.identity(invited.wallet, 'approved')
    await invited.until('verification', (me) => me.verified)
    const { id } = await creditedTopUp(stack, invited)
    const { sessions } = await outside.book()
    const name = `${personal.firstName} ${personal.lastName}`
    expect(sessions!.find((one) => one.reference_id === id).payer_name).toBe(name)
    const logs = [...new Glob('**/*.log').scanSync({ cwd: stack.dir })].filter((path) => !path.includes('sandbox'))
    expect(logs.length).toBeGreaterThan(5)
    const having = logs.filter((path) => readFileSync(join(stack.dir, path), 'utf8').includes(personal.lastName))
    expect(having).toEqual([])
  })

  test('it cashes out until the limit of all wallets is reached', async () => {
    const cashOut = async () => invited.post('/cashouts', await cashoutBody(stack, invited))
    expect((await answered(cashOut)).status).toBe(200)
    const refused = await answered(cashOut)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'day_limit_of_all_reached'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('the configuration of apps and ops doctor say what is limited', async () => {
    const { topups, cashouts } = okOf(await invited.api.config())
    expect(topups).toMatchObject({ invitedOnly: true, dayAusdMaxOfAll: '500000000', openMax: 3, dayCountMax: 5 })
    expect(cashouts).toMatchObject({ invitedOnly: true, dayAusdMaxOfAll: '7000000' })
    const { said } = await operate(stack, 'doctor')
    expect(said).not.toMatch(/every wallet can (top up|cash out)|_USD/)
  })
})
