import type { Hex } from 'viem'
import type { AutoRepaySource } from '#shared/messages/credit'
import type { Op } from '../chain/calls'

/** More than any debt, in 10⁻⁶ AUSD, so that a repayment is for the whole of one. */
export const autoRepayMaxMicro = 1_000_000_000n

/** Times in ms after a draw at which the gateway orders the three tries before the due date. */
export const triesAfterMs = [30_000, 45_000, 53_000]

type Scene = {
  readonly wallet: Hex
  readonly drawMicro: bigint
  readonly balance: () => bigint
  /** AUSD of the collateral that can be withdrawn. */
  readonly withdrawable: () => bigint
  readonly nowMs: () => number
}

/** What happens on the chain at the time of a try, and what undoes it. */
type Meddling = {
  readonly name: string
  /** Source of the repayment that it can make fail; either if it is omitted. */
  readonly of?: AutoRepaySource
  readonly begins: (scene: Scene) => readonly Op[]
  readonly ends?: (scene: Scene) => readonly Op[]
}

const safe: Hex = `0x${'5afe'.repeat(10)}`
const transferOf = ({ wallet, nowMs }: Scene, [from, to]: readonly [Hex, Hex], value: bigint): Op => {
  const nonce = `${wallet}${Math.floor(nowMs()).toString(16).padStart(24, '0')}` as const
  return { kind: 'transfer', terms: { from, to, value, validAfter: 0n, validBefore: 1n << 63n, nonce } }
}

const meddlings: readonly Meddling[] = [
  {
    name: 'the wallet spends its AUSD',
    of: 'wallet',
    begins: (scene) => [transferOf(scene, [scene.wallet, safe], scene.balance())],
    ends: (scene) => [transferOf(scene, [safe, scene.wallet], scene.drawMicro)],
  },
  {
    name: 'the wallet revokes its approval',
    of: 'wallet',
    begins: ({ wallet }) => [{ kind: 'approve', wallet, amount: 0n }],
    ends: ({ wallet, drawMicro }) => [{ kind: 'approve', wallet, amount: 2n * drawMicro }],
  },
  {
    name: 'the wallet ends its permission',
    begins: ({ wallet }) => [{ kind: 'allow', wallet, max: 0n, fromCollateral: false }],
    ends: ({ wallet }) => [{ kind: 'allow', wallet, max: autoRepayMaxMicro, fromCollateral: true }],
  },
  {
    name: 'the issuer freezes the wallet',
    of: 'wallet',
    begins: ({ wallet }) => [{ kind: 'frozen by the issuer', wallet, value: true }],
    ends: ({ wallet }) => [{ kind: 'frozen by the issuer', wallet, value: false }],
  },
  {
    name: 'the user withdraws the collateral that the debt does not need',
    of: 'collateral',
    begins: ({ wallet, withdrawable }) => [{ kind: 'withdraw', wallet, amount: withdrawable() }],
    ends: ({ wallet, drawMicro }) => [{ kind: 'deposit', wallet, amount: 2n * drawMicro }],
  },
  {
    name: 'the user repays the debt',
    begins: ({ wallet }) => [{ kind: 'repay own', wallet, amount: autoRepayMaxMicro }],
    ends: ({ wallet, drawMicro }) => [{ kind: 'draw', wallet, amount: drawMicro }],
  },
  {
    name: 'the user repays a part and draws again',
    begins: ({ wallet, drawMicro }) => [
      { kind: 'repay own', wallet, amount: drawMicro / 3n },
      { kind: 'draw', wallet, amount: drawMicro / 5n },
    ],
  },
  { name: 'another calls for the repayment', begins: ({ wallet }) => [{ kind: 'autorepay', wallet }] },
]

/** Returns what may happen to a repayment from a source; what only this source has is twice as likely. */
export function meddlingsOf(source: AutoRepaySource): readonly Meddling[] {
  const own = meddlings.filter(({ of }) => of === source)
  return [...own, ...own, ...meddlings.filter(({ of }) => of === undefined)]
}

export const sightOfMeddling = (name: string): string => `at the time of an automatic repayment: ${name}`
export const meddlingsToSee: readonly string[] = meddlings.map(({ name }) => sightOfMeddling(name))
