import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { ChainTerms } from '#shared/messages/chain'
import { amountOf } from '#shared/messages/fields'
import { PaymentsTerms, TopupTerms } from '#shared/messages/payments'
import { PayoutsTerms } from '#shared/messages/payouts'
import { PricingTerms } from '#shared/messages/pricing'

const { pairs } = PricingTerms.answer.properties
const { currencies, methods, heldChannels } = PaymentsTerms.answer.properties
const { chainId, ausd, creditLine, treasury, cycle } = ChainTerms.answer.properties

const seconds = (what: string) => Type.Integer({ description: `${what}, in seconds.` })
const gas = amountOf('Gas units; the chain charges all of them, whatever is used.')

/** All that an app needs to know before its first request. Lengths of time in seconds. */
export const GetConfig = route({
  method: 'GET',
  path: '/config',
  access: 'public',
  body: null,
  answer: Type.Object(
    {
      pairs,
      chain: Type.Object(
        {
          ...{ chainId, ausd, creditLine, treasury },
          gasLimits: Type.Object(
            {
              draw: gas,
              repay: gas,
              repayWithPermit: gas,
              repayFromCollateral: gas,
              withdrawCollateral: gas,
            },
            {
              title: 'GasLimits',
              description:
                'Gas units that cover each function of the credit line, whatever the history of the account.',
            },
          ),
        },
        { title: 'ChainTerms', description: 'Where the contracts are.' },
      ),
      credit: Type.Object(
        {
          cycle: Type.Object(
            {
              minSeconds: seconds('How long a cycle takes at least to count'),
              minDebt: cycle.properties.minDebt,
              termSeconds: seconds('How long after its first draw a cycle is to be closed'),
              graceSeconds: seconds('How long after that it ends in default'),
            },
            {
              title: 'CycleTerms',
              description:
                'A cycle counts when its debt times its seconds reaches `minDebt` times `minSeconds`. It is ' +
                'to be closed within `termSeconds`, and ends in default after `graceSeconds` more.',
            },
          ),
          initialRatioBps: amountOf(
            'The share of the collateral that a new account may owe, in hundredths of a percent.',
          ),
        },
        { title: 'CreditTerms', description: 'What the credit line holds people to.' },
      ),
      session: Type.Object(
        { secondsMax: seconds('How far ahead `until` may lie') },
        { title: 'SessionTerms', description: 'How far ahead the end of a session may lie.' },
      ),
      quote: Type.Object(
        { seconds: seconds('How long a rate is locked') },
        { title: 'QuoteTerms', description: 'How long a rate is locked.' },
      ),
      checkout: Type.Object(
        { seconds: seconds('How long a checkout is open'), methods },
        { title: 'CheckoutTerms', description: 'How long a checkout is open, and what to pick.' },
      ),
      hold: Type.Object(
        {
          seconds: seconds('How long it frees nothing'),
          channels: Type.Array(heldChannels.items, {
            description: 'What is held, by its channel.',
          }),
        },
        {
          title: 'HoldTerms',
          description: 'Which money frees nothing at first, and for how long.',
        },
      ),
      currencies,
      topups: TopupTerms,
      cashouts: Type.Object(PayoutsTerms.answer.properties, {
        title: 'CashoutTerms',
        description: 'What may be cashed out, and to which banks.',
      }),
      sends: Type.Object(
        { validBeforeSecondsMin: seconds('How far ahead `validBefore` must be') },
        { title: 'SendTerms', description: 'What a send must keep to.' },
      ),
    },
    { title: 'Config', description: 'All that an app needs to know; lengths of time in seconds.' },
  ),
})
