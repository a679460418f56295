import { expect, test } from 'bun:test'
import type { Address, Hex } from 'viem'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { recordFromChain } from '#test/support/verify'
import { historyOf } from './record'
import { ana, ausd, budi, citra, openTestChain, standingOf, type TestChain, testTerms } from './test-support'

const users = [ana, budi, citra]
const seed = Number(process.env.WALK_SEED ?? 20_261_121)
const parts = Number(process.env.WALK_PARTS ?? 6)
const acts = 50

async function beginning(holdSeconds: number): Promise<TestChain> {
  const chain = await openTestChain({ holdSeconds })
  for (const user of users) {
    await chain.verify(user)
    await chain.fund(user, 10_000n * ausd)
    await chain.topUp(user, 1_000n * ausd)
  }
  return chain
}

/** Returns a generator of random numbers, which are the same for the same seed. */
function dice() {
  let state = seed
  return (end: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

/** Starts a random walk, each of which returns how many acts were refused. */
function walkOn(chain: TestChain, refsBack: number) {
  const roll = dice()
  const refs: Hex[] = []
  const act = async () => {
    const user = users[roll(3)]!
    const micro = BigInt(1 + roll(40)) * ausd
    const ref = refs[Math.max(0, refs.length - 1 - roll(refsBack))]
    const kind = roll(52)
    if (kind === 51) return chain.seizeMore(user)
    if (kind >= 49) return chain.warp(roll(testTerms.holdSeconds))
    if (kind >= 47) return void (await chain.topUp(user, micro, true))
    if (kind === 46) return chain.repayFromCollateral(user, micro)
    if (kind === 45) return chain.withdraw(user, micro)
    if (kind === 44) return chain.addYield(micro)
    if (kind === 43) return chain.pause()
    if (kind >= 40) return chain.unpause()
    if (kind < 13) return chain.draw(user, micro)
    if (kind < 17) return chain.repay(user, micro)
    if (kind < 19) return chain.repayFor(user, micro)
    if (kind < 26) return void refs.push(await chain.heldRepayFor(user, micro))
    if (kind < 32 && ref) return chain.revokeRepayment(ref, BigInt(roll(3)) * 5n * ausd)
    if (kind < 34 && ref) return chain.extendHold(ref)
    if (kind < 37) return chain.warp(roll(testTerms.minCycleSeconds))
    if (kind < 38) return chain.freeze(user, roll(2) === 0)
    await chain.warp(testTerms.termSeconds)
    if (roll(6) > 0) return
    await chain.warp(testTerms.graceSeconds + recordingSeconds)
    await chain.markDefault(user)
  }
  return async (): Promise<number> => {
    let refused = 0
    for (let count = 0; count < acts; count++) await act().catch(() => void refused++)
    await chain.mine(2)
    return refused
  }
}

const placeOf = ({ rpcUrl, deployment }: TestChain) => ({
  rpcUrls: [rpcUrl],
  creditLine: deployment.creditLine,
  deployBlock: deployment.deployBlock,
  logsRangeMax: 1_000n,
})

const holds: [string, number, number][] = [
  ['end within the term', testTerms.holdSeconds, 4],
  ['outlast a default', 10 * (testTerms.graceSeconds + recordingSeconds), 40],
]

async function expectAgreement(chain: TestChain, user: Address) {
  const standing = await standingOf(chain, user)
  const { closed, open } = standing
  const { record, fromEvents, fromContract, missing } = await recordFromChain(placeOf(chain), user)
  const history = historyOf(standing, open ? [...closed, open] : closed)
  expect(history).toEqual(record.history)
  expect(missing).toEqual([])
  expect(fromEvents).toEqual(fromContract)
  const { frozen, defaulted, drawn, dueAt } = await chain.accountOf(user)
  expect(standing).toMatchObject({ frozen, defaulted, drawnMicro: drawn })
  expect(open?.dueAtSeconds ?? 0).toBe(Number(dueAt))
}

test.each(holds)(
  `holds that %s: the reader, the operators' check and the contract agree (seed ${seed})`,
  async (_what, holdSeconds, refsBack) => {
    const chain = await beginning(holdSeconds)
    try {
      const walk = walkOn(chain, refsBack)
      let refused = 0
      for (let part = 0; part < parts; part++) {
        refused += await walk()
        for (const user of users) await expectAgreement(chain, user)
      }
      expect(refused).toBeLessThan(parts * acts * 0.6)
    } finally {
      await chain.close()
    }
  },
)
