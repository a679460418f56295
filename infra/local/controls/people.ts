import type { Address } from 'viem'
import { outsideOf } from '#infra/demo/external'
import { type Person, personOf, type Reply } from '#infra/demo/person'
import { type ControlAction, type FormField, UnfitField } from '#infra/local/controls/action'
import type { StackFile } from '#infra/local/stack-file'
import { moneyText } from '#shared/money/text'

export function peopleActions(stack: StackFile): ControlAction[] {
  const people = new Map<string, Person>()
  const personIn = ({ wallet = '' }: Readonly<Record<string, string>>): Person => {
    const known = people.get(wallet)
    if (known) return known
    const account = stack.accounts.find(({ address }) => address.toLowerCase() === wallet)
    if (!account) throw new UnfitField('This wallet does not belong to this stack')
    const person = personOf(stack, account.privateKey)
    people.set(wallet, person)
    return person
  }
  const group = 'Be a user'
  const wallet = walletField(stack)
  return [
    {
      group,
      name: 'identity',
      title: 'Decide an identity check',
      confirm: 'The identity provider sends its verdict in a signed webhook.',
      fields: [wallet, choice('verdict', 'Verdict', ['approved', 'rejected', 'retry'])],
      act: async ({ wallet: whose = '', verdict }) => {
        await outsideOf(stack).identity(whose, verdict as 'approved')
        return { said: `Verdict sent: ${verdict}.`, item: whose }
      },
    },
    {
      group,
      name: 'topup',
      title: 'Top up',
      confirm: 'Locks a rate and opens a checkout.',
      fields: [
        wallet,
        choice('pair', 'Pair', ['USD/IDR', 'USD/MYR']),
        digits('amount', 'Amount, in rupiah or sen', '500000'),
        choice('method', 'Method', ['qr', 'bank', 'card']),
      ],
      act: async ({ pair, amount, method, ...whose }) => {
        const person = personIn(whose)
        const quote = taken(await person.post('/quote', { pair }))
        const opened = taken(await person.post('/topups', { amount, method, quoteId: quote.id as string }))
        const said = `Checkout open for ${moneyText(opened.ausd as string, 'AUSD')}: ${opened.checkoutUrl}`
        return { said, item: opened.paymentId as string }
      },
    },
    {
      group,
      name: 'draw',
      title: 'Draw',
      confirm: 'The wallet borrows directly from the contract.',
      fields: [wallet, digits('micro', 'AUSD, in millionths', '5000000')],
      act: async ({ micro = '0', ...whose }) => {
        const person = personIn(whose)
        await person.draw(BigInt(micro))
        return { said: `${moneyText(micro, 'AUSD')} drawn.`, item: person.wallet }
      },
    },
    {
      group,
      name: 'settle',
      title: 'Settle the debt',
      confirm: 'Opens a checkout for the whole debt.',
      fields: [wallet, choice('pair', 'Pair', ['USD/IDR', 'USD/MYR'])],
      act: async ({ pair, ...whose }) => {
        const person = personIn(whose)
        const quote = taken(await person.post('/quote', { pair }))
        const opened = taken(await person.post('/settlements', { quoteId: quote.id as string }))
        const said = `Checkout open for ${moneyText(opened.ausd as string, 'AUSD')}: ${opened.checkoutUrl}`
        return { said, item: opened.paymentId as string }
      },
    },
    {
      group,
      name: 'cashout',
      title: 'Cash out',
      confirm: 'The wallet signs a transfer to the treasury, and the bank account is paid.',
      fields: [wallet, digits('micro', 'AUSD, in millionths', '3000000'), bankField],
      act: async ({ micro = '0', account = '', ...whose }) => {
        const person = personIn(whose)
        const quote = taken(await person.post('/quote', { pair: 'USD/IDR' }))
        const to = stack.chain.treasury as Address
        const authorization = await person.sign({ to, valueMicro: BigInt(micro) })
        const bank = {
          channelCode: 'ID_BCA',
          accountNumber: account,
          accountHolderName: 'Sari Dewi',
        }
        const body = { quoteId: quote.id as string, authorization, bank }
        const accepted = taken(await person.post('/cashouts', body))
        const said = `Cashing out ${moneyText(micro, 'AUSD')} for ${moneyText(accepted.fiat as string, 'IDR')}.`
        return { said, item: accepted.payoutId as string }
      },
    },
  ]
}

const walletField = ({ accounts }: StackFile): FormField => ({
  name: 'wallet',
  label: 'Wallet',
  choices: accounts.map(({ address }, index) => ({
    value: address.toLowerCase(),
    label: `${index + 1}: ${address.toLowerCase()}`,
  })),
})

const choice = (name: string, label: string, values: readonly string[]): FormField => ({
  name,
  label,
  choices: values.map((value) => ({ value, label: value })),
})

const digits = (name: string, label: string, fallback: string): FormField => ({
  name,
  label,
  fallback,
  pattern: '[0-9]{1,20}',
})

/** Account numbers, which choose the outcome in the provider's test mode. */
const bankField: FormField = {
  name: 'account',
  label: 'Bank account',
  choices: [
    { value: '1234567890', label: '1234567890: paid' },
    { value: '999999', label: '999999: rejected by the bank' },
    { value: '131313', label: '131313: stays pending' },
    { value: '654321', label: '654321: paid, then returned' },
  ],
}

function taken({ status, body }: Reply): Readonly<Record<string, unknown>> {
  if (status !== 200) throw new UnfitField(`The gateway returned ${status}: ${body.error}`)
  return body
}
