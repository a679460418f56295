import { actors } from '#infra/contracts/stage'
import { type RigChain, rigTerms } from './chain.ts'

export const ana = actors.ana.address
export const budi = actors.budi.address
export const citra = actors.citra.address

export const ausd = 1_000_000n

/**
 * Ana: every outcome but Defaulted, and a cycle that stays open. Budi: Defaulted. Citra: collateral
 * only, frozen for a while.
 */
export async function tellStory(chain: RigChain): Promise<void> {
  for (const user of [ana, budi]) {
    await chain.verify(user)
    await chain.fund(user, 10_000n * ausd)
    await chain.topUp(user, 1_000n * ausd)
  }
  const held = await chain.topUp(citra, 5n * ausd, true)
  await chain.warp(1)
  await chain.extendHold(held)
  await chain.freeze(citra, true)
  await chain.freeze(citra, false)
  await chain.draw(budi, 300n * ausd)

  await chain.draw(ana, 100n * ausd)
  await chain.repay(ana, 100n * ausd)

  await chain.draw(ana, 100n * ausd)
  await chain.draw(ana, 50n * ausd)
  await chain.repay(ana, 70n * ausd)
  await chain.warp(rigTerms.minCycleSeconds + 1)
  await chain.repayFor(ana, 80n * ausd)

  await chain.draw(ana, 10n * ausd)
  await chain.warp(rigTerms.termSeconds + 1)
  await chain.repay(ana, 10n * ausd)

  await tellReversals(chain)

  await chain.warp(rigTerms.graceSeconds + 1)
  await chain.markDefault(budi)
  await chain.draw(ana, 7n * ausd)
  await chain.mine(2)
}

/** Ana's cycles whose repayments are taken back: afterwards, while another is open, and at once. */
async function tellReversals(chain: RigChain): Promise<void> {
  await chain.draw(ana, 20n * ausd)
  await chain.warp(rigTerms.minCycleSeconds + 1)
  const taken = await chain.heldRepayFor(ana, 12n * ausd)
  await chain.warp(1)
  await chain.extendHold(taken)
  await chain.repay(ana, 8n * ausd)
  await chain.revokeRepayment(taken)
  await chain.repay(ana, 12n * ausd)

  await chain.draw(ana, 20n * ausd)
  await chain.warp(rigTerms.minCycleSeconds + 1)
  const late = await chain.heldRepayFor(ana, 20n * ausd)
  await chain.draw(ana, 5n * ausd)
  await chain.revokeRepayment(late)
  await chain.warp(rigTerms.minCycleSeconds + 1)
  await chain.repay(ana, 25n * ausd)

  await chain.draw(ana, 30n * ausd)
  await chain.revokeRepayment(await chain.heldRepayFor(ana, 10n * ausd))
  await chain.repay(ana, 30n * ausd)
}

/** More of the same, block after block: `rounds` of a draw and a repayment by each. */
export async function tellMore(chain: RigChain, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await chain.draw(ana, ausd)
    await chain.topUp(citra, ausd)
    await chain.repay(ana, ausd)
  }
  await chain.mine(2)
}
