import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicClient, http } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { poolWords, type RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
import type { SendOutcome } from '#infra/sandbox/rpc-proxy/journal'
import type { RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { fields } from '../../services/chain-relayer/config'
import { groupStack } from '../runner/group'
import { booksClose } from '../support/books'
import { query } from '../support/database'
import { beginPaths, cashOut, expectOnceEach, flowsEnding, pathsCostMicro } from '../support/flows'
import { newUser, verifiedUser } from '../support/people'

const startWei = 10n ** 16n
const dripWei = BigInt(fields.DRIP_WEI.fallback!)

const faults: [string, Partial<RpcFaults>, SendOutcome | undefined][] = [
  ['is Monad on a good day: `pending` is `latest`', { pendingIsLatest: true }, 'forwarded'],
  ['swallows half of the sends', { swallowSendRate: 0.5, seed: 3 }, 'swallowed'],
  ['delays every send', { delaySendRate: 1, delaySendMs: 1_500 }, 'delayed'],
  ['takes a send and never answers', { timeoutAfterAcceptRate: 0.5, seed: 5 }, 'forwarded without an answer'],
  ['shows a receipt, hides it, shows it again', { vanishReceiptReads: 3 }, undefined],
  ['lets its head go backwards', { headBackRate: 0.4, headBackBlocks: 6, seed: 7 }, undefined],
  ['lags behind', { headLagBlocks: 5 }, undefined],
  ['answers 429 or cuts the connection', { tooManyRequestsRate: 0.15, disconnectRate: 0.15, seed: 11 }, undefined],
]
const allAtOnce: Partial<RpcFaults> = {
  seed: 20_261,
  poolErrorRate: 0.2,
  swallowSendRate: 0.2,
  delaySendRate: 0.2,
  delaySendMs: 1_000,
  timeoutAfterAcceptRate: 0.1,
  vanishReceiptReads: 2,
  headLagBlocks: 3,
  headBackRate: 0.2,
  headBackBlocks: 4,
  partialLogsRate: 0.1,
  tooManyRequestsRate: 0.05,
  disconnectRate: 0.05,
  hangRate: 0.01,
}

/** Longest wait in ms; half a minute is usual with every fault at once. */
const endingMs = 90_000

let stack: Stack
let proxy: RpcProxy
let outside: ExternalControls
/** A user with money and one about to be verified, for each test. */
let pairs: { person: Person; unverified: Person }[]

beforeAll(async () => {
  stack = groupStack()
  proxy = stack.rpcProxy!
  outside = outsideOf(stack.info)
  pairs = await Promise.all(Array.from({ length: faults.length + 3 }, newPair))
})
afterEach(() => proxy.setFaults({}))

async function newPair() {
  const person = await verifiedUser(stack, { ausdMicro: pathsCostMicro })
  const unverified = await newUser(stack, { wei: startWei })
  await unverified.get('/me')
  return { person, unverified }
}

const balanceOf = ({ wallet }: Person) =>
  createPublicClient({ transport: http(stack.info.chain.rpcUrl) }).getBalance({ address: wallet })

const outcomesSince = (seen: number) => proxy.journal.sends.slice(seen).map(({ outcome }) => outcome)

/** Plays every path while the endpoint is at its worst. */
async function throughEverything(begin: () => void, during: () => Promise<unknown>) {
  const { person, unverified } = pairs.pop()!
  begin()
  await outside.identity(unverified.wallet, 'approved')
  const flows = await beginPaths(stack, person)
  await during()
  await flowsEnding(flows, endingMs)
  await waitUntil('the drip', async () => (await balanceOf(unverified)) > startWei)
  await waitUntil('the new user being verified', async () => (await unverified.me()).verified)
  await expectOnceEach(stack, flows)
  expect(await balanceOf(unverified)).toBe(startWei + dripWei)
}

describe('one credit, take, return, send and drip happen when the endpoint', () => {
  test.each(faults)('%s', async (_, change, outcome) => {
    const seen = proxy.journal.sends.length
    await throughEverything(
      () => proxy.setFaults(change),
      () => waitUntil('the fault biting', () => outcome === undefined || outcomesSince(seen).includes(outcome)),
    )
  })

  test('refuses with every error text of the pool, and the same bytes permanently', async () => {
    const seen = proxy.journal.sends.length
    const refusals = () => outcomesSince(seen).filter((outcome) => outcome === 'refused').length
    await throughEverything(
      () => proxy.setFaults({ poolErrorRate: 1, poolWord: poolWords[0] }),
      async () => {
        for (const poolWord of poolWords) {
          const before = refusals()
          proxy.setFaults({ poolWord })
          await waitUntil(`a refusal with "${poolWord}"`, () => refusals() > before)
        }
        proxy.setFaults({ poolErrorRate: 0 })
      },
    )
  })

  test('has all of these faults at once', async () => {
    await throughEverything(
      () => proxy.setFaults(allAtOnce),
      async () => {},
    )
  })
})

test('a cash-out ends in time although the relayer is restarted while the chain cannot be reached', async () => {
  const { person } = pairs.pop()!
  proxy.setFaults({ swallowSendRate: 1 })
  const { id } = await cashOut(stack, person)
  const taking = `kind = 'take' and payload ->> 'payoutId' = '${id}'`
  const found = await waitUntil('the nonce', async () => {
    const rows = await query<{ lane: string; nonce: number }>(
      stack,
      `select lane, nonce from chain_relayer.operation where ${taking} and state = 'assigned'`,
    )
    return rows[0]
  })
  const relayer = stack.process('chain-relayer')
  await relayer.stop('SIGKILL')
  proxy.setFaults({ disconnectRate: 1 })
  // The transfer never got a nonce, and has waited for longer than it may.
  const at = `lane = '${found.lane}' and nonce = ${found.nonce}`
  await query(stack, `delete from chain_relayer.attempt where ${at}`)
  await query(stack, `delete from chain_relayer.transaction where ${at}`)
  await query(stack, `update chain_relayer.lane set next_nonce = ${found.nonce} where address = '${found.lane}'`)
  await query(
    stack,
    `update chain_relayer.operation set state = 'waiting', lane = null, nonce = null,
       created_at = created_at - interval '6 minutes' where ${taking}`,
  )
  relayer.start()
  const stateOf = () => query<{ state: string }>(stack, `select state from payouts.payouts where id = '${id}'`)
  await waitUntil('its end', async () => (await stateOf())[0]!.state === 'failed')
  proxy.setFaults({})
  await waitUntil('the relayer being ready', () => person.me())
})

test('after the failures of the endpoint the books balance', () => booksClose(stack))
