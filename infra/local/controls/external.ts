import { outsideOf } from '#infra/demo/external'
import type { ControlAction, FormField } from '#infra/local/controls/action'
import type { StackFile } from '#infra/local/stack-file'

const offeredMax = 50

export async function externalActions(stack: StackFile): Promise<ControlAction[]> {
  const outside = outsideOf(stack)
  const book = await outside.book()
  const open = newest(book.sessions, ({ status }) => status === 'ACTIVE')
  const paid = newest(book.payments, ({ status }) => status === 'SUCCEEDED')
  const session = pick('session', 'Checkout', open, ({ reference_id, currency, amount }) => ({
    value: reference_id,
    label: `${reference_id}, ${currency} ${amount}`,
  }))
  const payment = pick('payment', 'Payment', paid, (one) => ({
    value: one.payment_id,
    label: `${one.session_reference_id}, ${one.currency} ${one.request_amount}`,
  }))
  const noCheckout = open.length === 0 ? { disabled: 'No open checkout: top up first.' } : {}
  const nothingPaid = paid.length === 0 ? { disabled: 'No payments yet.' } : {}
  const group = 'Checkouts'
  const webhooks = 'Webhooks'
  return [
    {
      group,
      name: 'pay',
      title: 'Pay a checkout',
      ...noCheckout,
      confirm: 'The payer pays; the provider sends two webhooks, in any order.',
      fields: [session, channelField],
      act: async ({ session: id = '', channel }) => {
        const chosen = channel === 'any' ? {} : { channel_code: channel }
        await outside.control(`sessions/${id}/pay`, chosen)
        return { said: 'Paid.', item: id }
      },
    },
    {
      group,
      name: 'fail',
      title: 'Fail a checkout',
      ...noCheckout,
      confirm: 'The payment is declined; the checkout stays open.',
      fields: [session],
      act: async ({ session: id = '' }) => {
        await outside.fail(id)
        return { said: 'Declined.', item: id }
      },
    },
    {
      group,
      name: 'expire',
      title: 'Let a checkout expire',
      ...noCheckout,
      confirm: 'The checkout expires; a later payment must still be honoured.',
      fields: [session],
      act: async ({ session: id = '' }) => {
        await outside.expire(id)
        return { said: 'Expired.', item: id }
      },
    },
    {
      group,
      name: 'refund',
      title: 'Refund a payment',
      ...nothingPaid,
      confirm: 'The provider refunds the payment, as from its dashboard.',
      fields: [payment],
      act: async ({ payment: id = '' }) => {
        await outside.refund(id)
        return { said: 'Refund started.' }
      },
    },
    {
      group: 'Time',
      name: 'advance',
      title: "Advance the chain's clock",
      confirm: 'Due dates, holds and reminders follow it; quotes, sessions and daily limits do not.',
      fields: [
        {
          name: 'seconds',
          label: 'Time',
          choices: [
            { value: '60', label: 'a minute' },
            { value: '3600', label: 'an hour' },
            { value: '86400', label: 'a day' },
            { value: '604800', label: 'a week' },
            { value: '2592000', label: '30 days' },
          ],
        },
      ],
      act: async ({ seconds }) => {
        const { chainTime } = await outside.advance(Number(seconds))
        return { said: `The chain's time is ${new Date(1_000 * Number(chainTime)).toISOString()}.` }
      },
    },
    {
      group: webhooks,
      name: 'drop',
      title: 'Lose webhooks',
      confirm: 'Webhooks are dropped from now on; the service polls the provider instead.',
      fields: [
        {
          name: 'share',
          label: 'Share to drop',
          choices: [
            { value: '1', label: 'all of them' },
            { value: '0.5', label: 'every second' },
            { value: '0.2', label: 'every fifth' },
          ],
        },
      ],
      act: async ({ share }) => {
        await outside.faults({ webhooks: { drop: Number(share) } })
        return { said: 'Dropping webhooks.' }
      },
    },
    {
      group: webhooks,
      name: 'calm',
      title: 'Stop losing webhooks',
      confirm: 'The provider delivers every webhook again and its API has no faults.',
      fields: [],
      act: async () => {
        await outside.calm()
        return { said: 'Webhooks are delivered again.' }
      },
    },
  ]
}

// biome-ignore lint/suspicious/noExplicitAny: the book is read field by field, as it is served
type Row = any

const newest = (rows: Row[] | undefined, wanted: (row: Row) => boolean): Row[] =>
  (rows ?? []).filter(wanted).slice(-offeredMax).reverse()

const pick = (
  name: string,
  label: string,
  rows: Row[],
  choiceOf: (row: Row) => { value: string; label: string },
): FormField => ({ name, label, choices: rows.map(choiceOf) })

const channelField: FormField = {
  name: 'channel',
  label: 'Channel',
  choices: [
    { value: 'any', label: 'the first that fits' },
    { value: 'QRIS', label: 'QRIS (not held)' },
    { value: 'BCA_VIRTUAL_ACCOUNT', label: 'BCA virtual account (not held)' },
    { value: 'CARDS', label: 'card (held)' },
    { value: 'OVO', label: 'OVO (held)' },
  ],
}
