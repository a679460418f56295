import { type Fixture, newWallet } from '../test-support'

type Kind = 'topup' | 'settlement'
export const kinds = [['topup'], ['settlement']] as const

/** Returns actions on payments of 50,000 that no webhook reports. */
export function actionsOn(fixture: Fixture) {
  async function opened(kind: Kind = 'topup'): Promise<string> {
    const asked = { wallet: newWallet(), quoteId: fixture.quote() }
    const answer =
      kind === 'topup'
        ? await fixture.topup({ ...asked, amount: '50000', method: 'qr' })
        : await fixture.settlement(asked)
    return answer.ok!.paymentId
  }
  /** Pays without a webhook; the list finds the payment, and its effect is final on the chain. */
  async function given(channel: string, kind: Kind = 'topup'): Promise<string> {
    const id = await opened(kind)
    await fixture.control(`sessions/${id}/pay`, { channel_code: channel, force: true })
    await fixture.list()
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle(kind === 'topup' ? 'credit' : 'repay', id)
    return id
  }
  const holdFor = (seconds: number) => {
    const until = Math.floor(fixture.context.clock() / 1_000) + seconds
    fixture.chain.hold = { state: 'held', until }
  }
  return {
    opened,
    given,
    holdFor,
    /** Returns a payment whose hold ends within the margin. */
    ending: async (kind: Kind = 'topup') => {
      const id = await given('CARDS', kind)
      holdFor(4)
      return id
    },
    isExtended: async (id: string) => (await fixture.subjects(id)).includes('relay.extend'),
    refund: async (id: string, more: object = {}) => (await fixture.control(`payments/${id}/refund`, more)).id,
    dispute: async (id: string, more: object = {}) => (await fixture.control(`payments/${id}/chargeback`, more)).id,
    isFrozen: async (id: string) => (await fixture.walletRow((await fixture.row(id))!.wallet))?.frozen ?? false,
  }
}
