import { type Fixture, newWallet } from '../test-support'

export type Kind = 'topup' | 'settlement'
export const kinds = [['topup'], ['settlement']] as const

/** Actions on payments of 50,000 that no webhook reports. */
export function actionsOn(fixtureOf: () => Fixture) {
  async function opened(kind: Kind = 'topup'): Promise<string> {
    const asked = { wallet: newWallet(), quoteId: fixtureOf().quote() }
    const answer =
      kind === 'topup'
        ? await fixtureOf().topup({ ...asked, amount: '50000', method: 'qr' })
        : await fixtureOf().settlement(asked)
    return answer.ok!.paymentId
  }
  /** Paid without a webhook, found by the list and final on the chain. */
  async function given(channel: string, kind: Kind = 'topup'): Promise<string> {
    const id = await opened(kind)
    await fixtureOf().control(`sessions/${id}/pay`, { channel_code: channel, force: true })
    await fixtureOf().list()
    await fixtureOf().becomes(id, { state: 'paid' })
    await fixtureOf().settle(kind === 'topup' ? 'credit' : 'repay', id)
    return id
  }
  return {
    ...{ opened, given },
    holdFor: (seconds: number) => {
      const until = Math.floor(fixtureOf().context.clock() / 1_000) + seconds
      fixtureOf().chain.hold = { state: 'held', until }
    },
    refund: async (id: string, more: object = {}) =>
      (await fixtureOf().control(`payments/${id}/refund`, more)).id,
    dispute: async (id: string, more: object = {}) =>
      (await fixtureOf().control(`payments/${id}/chargeback`, more)).id,
    isFrozen: async (id: string) =>
      (await fixtureOf().walletRow((await fixtureOf().row(id))!.wallet))?.frozen ?? false,
  }
}
