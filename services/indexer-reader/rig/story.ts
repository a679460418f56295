import { actors } from '#infra/contracts/stage'
import type { RigChain } from './chain.ts'
import { rigTerms } from './chain.ts'

export const ana = actors.ana.address
export const budi = actors.budi.address
export const citra = actors.citra.address

const ausd = 1_000_000n

/** Ana: Short, Qualified, Late. Budi: Defaulted, and a repayment after it. Citra: collateral only. */
export async function tellStory(chain: RigChain): Promise<void> {
  for (const user of [ana, budi]) {
    await chain.verify(user)
    await chain.fund(user, 10_000n * ausd)
    await chain.topUp(user, 1_000n * ausd)
  }
  await chain.topUp(citra, 5n * ausd, true)
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

  await chain.warp(rigTerms.graceSeconds + 1)
  await chain.markDefault(budi)
  await chain.draw(ana, 7n * ausd)
  await chain.mine(2)
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
