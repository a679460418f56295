import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { ChainTerms } from '#shared/messages/chain'
import { PaymentsTerms, TopupTerms } from '#shared/messages/payments'
import { PayoutsTerms } from '#shared/messages/payouts'
import { PricingTerms } from '#shared/messages/pricing'

const { pairs, quoteSeconds } = PricingTerms.answer.properties
const { currencies, methods, checkoutSeconds, heldChannels } = PaymentsTerms.answer.properties
const { validBeforeSecondsMin, ...payouts } = PayoutsTerms.answer.properties
const { chainId, ausd, creditLine, treasury } = ChainTerms.answer.properties
const { holdSeconds, cycle, initialRatioBps, gasLimits } = ChainTerms.answer.properties

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
        { chainId, ausd, creditLine, treasury, gasLimits },
        { title: 'ChainTerms', description: 'Where the contracts are.' },
      ),
      credit: Type.Object(
        { cycle, initialRatioBps },
        { title: 'CreditTerms', description: 'What the credit line holds people to.' },
      ),
      session: Type.Object(
        { secondsMax: Type.Integer() },
        { title: 'SessionTerms', description: 'How far ahead the end of a session may lie.' },
      ),
      quote: Type.Object(
        { seconds: quoteSeconds },
        { title: 'QuoteTerms', description: 'How long a rate is locked.' },
      ),
      checkout: Type.Object(
        { seconds: checkoutSeconds, methods },
        { title: 'CheckoutTerms', description: 'How long a checkout is open, and what to pick.' },
      ),
      hold: Type.Object(
        { seconds: holdSeconds, channels: heldChannels },
        {
          title: 'HoldTerms',
          description: 'Which money frees nothing at first, and for how long.',
        },
      ),
      currencies,
      topups: TopupTerms,
      cashouts: Type.Object(
        { ...payouts, validBeforeSecondsMin },
        { title: 'CashoutTerms', description: 'What may be cashed out, and to which banks.' },
      ),
      sends: Type.Object(
        { validBeforeSecondsMin: Type.Integer() },
        { title: 'SendTerms', description: 'How far ahead `validBefore` must be, in seconds.' },
      ),
    },
    { title: 'Config', description: 'All that an app needs to know; lengths of time in seconds.' },
  ),
})
