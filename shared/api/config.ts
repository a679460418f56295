import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { sessionSecondsMax } from '#shared/api/session'
import { creditCost } from '#shared/chain/credit-cost'
import { languages } from '#shared/language/language'
import { ChainTerms } from '#shared/messages/chain'
import { amountOf } from '#shared/messages/fields'
import { PaymentsTerms, TopupTerms } from '#shared/messages/payments'
import { PayoutsTerms } from '#shared/messages/payouts'
import { PricingTerms } from '#shared/messages/pricing'
import { statementDaysMax, statementItemsMax } from '#shared/messages/statement'

const { pairs, spreads, cashoutFee, topupFees } = PricingTerms.answer.properties
const { currencies, methods, heldChannels, cancellationsPerDayMax } = PaymentsTerms.answer.properties
const { chainId, ausd, creditLine, treasury, cycle } = ChainTerms.answer.properties

const LanguageName = Type.Enum([...languages], {
  title: 'Language',
  description: 'Language of errors and sentences: English, Indonesian or Malay.',
})

const seconds = (what: string) => Type.Integer({ description: `${what}, in seconds.` })
const gas = amountOf('Gas units; the chain charges the limit, not the gas used.')

const cost = Type.Object(
  {
    interestBps: amountOf('Interest a year, in hundredths of a percent.'),
    drawFee: amountOf('Fee of a draw, in 10⁻⁶ AUSD.'),
    repaymentFee: amountOf('Fee of a repayment, in 10⁻⁶ AUSD.'),
    spreads,
    cashoutFee,
    topupFees,
    late: Type.Object(
      {
        score: Type.Integer({ description: 'Points that the score loses.' }),
        ratioBps: amountOf('Share of the collateral that can be borrowed less, in hundredths of a percent.'),
      },
      { title: 'LateCost', description: 'Cost of a cycle that is repaid after its term.' },
    ),
    default: Type.Object(
      {
        seizes: Type.Literal('collateral', { description: 'Collateral in the amount of the debt is seized.' }),
        score: Type.Literal('all', { description: 'The score becomes 0.' }),
        borrowing: Type.Literal('ends', { description: 'The account cannot borrow again.' }),
      },
      { title: 'DefaultCost', description: 'Cost of a default, which anyone may call a week after the grace period.' },
    ),
  },
  {
    title: 'CreditCost',
    description:
      'Everything that credit costs: interest, fees, the spread of exchange rates, and what a late repayment and a default ' +
      'cost. Network fees (`gasLimits`) come on top. Public records name late and defaulted cycles.',
  },
)

const token = '0xa5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5'
const example = {
  pairs: ['USD/IDR', 'USD/MYR'],
  languages: [...languages],
  chain: {
    chainId: 10143,
    ausd: {
      address: token,
      decimals: 6,
      domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: token },
    },
    creditLine: '0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1',
    treasury: '0x1111111111111111111111111111111111111111',
    gasLimits: {
      draw: '400000',
      repay: '225000',
      repayWithPermit: '305000',
      repayFromCollateral: '350000',
      withdrawCollateral: '325000',
      setAutoRepay: '140000',
      approve: '80000',
    },
    dripWei: '250000000000000000',
  },
  support: { contact: 'help@example.org' },
  terms: { version: '2026-11-01', url: 'https://example.org/terms' },
  credit: {
    cost: creditCost,
    cycle: { minSeconds: 86_400, minDebt: '1000000', termSeconds: 2_592_000, graceSeconds: 86_400 },
    initialRatioBps: '5000',
  },
  session: { secondsMax: sessionSecondsMax },
  quote: {
    seconds: 60,
    spreads: [
      { pair: 'USD/IDR', reason: 'market_open', spreadBpsMin: 0, spreadBpsMax: 0, cashouts: 'any' },
      { pair: 'USD/IDR', reason: 'market_closed', spreadBpsMin: 50, spreadBpsMax: 150, cashouts: 'capped' },
      { pair: 'USD/IDR', reason: 'no_cross_check', spreadBpsMin: 50, spreadBpsMax: 150, cashouts: 'none' },
      { pair: 'USD/IDR', reason: 'sources_differ', spreadBpsMin: 101, spreadBpsMax: 300, cashouts: 'none' },
    ],
  },
  checkout: { seconds: 900, methods: ['bank', 'card', 'qr'], cancellationsPerDayMax: 10 },
  hold: {
    seconds: 60,
    channels: ['card', 'ewallet', 'counter', 'paylater', 'direct_debit', 'unknown'],
  },
  currencies: [
    {
      currency: 'IDR',
      country: 'ID',
      pair: 'USD/IDR',
      topup: { min: '10000', max: '50000000000', cardMax: '200000000' },
      settlement: { min: '1', max: '50000000000' },
    },
    {
      currency: 'MYR',
      country: 'MY',
      pair: 'USD/MYR',
      topup: { min: '500', max: '100000000', cardMax: '500000' },
      settlement: { min: '100', max: '100000000' },
    },
  ],
  statement: { daysMax: statementDaysMax, itemsMax: statementItemsMax },
  topups: { openMax: 100, openAusdMax: '100000000000', dayAusdMax: '100000000000', dayCountMax: 20 },
  cashouts: {
    pair: 'USD/IDR',
    currency: 'IDR',
    min: '10000',
    dayAusdMax: '100000000000',
    marketClosed: { dayAusdMax: '500000000', dayAusdMaxOfAll: '20000000000' },
    validBeforeSecondsMin: 300,
    checksPerDayMax: 3,
    banks: [
      {
        code: 'ID_BCA',
        name: 'Bank Central Asia',
        min: '10000',
        max: '1999999999999',
        increment: '1',
        accountNumber: { digitsMin: 6, digitsMax: 20, pattern: '^[0-9]{6,20}$' },
      },
    ],
  },
  sends: { validBeforeSecondsMin: 60 },
  requests: { perMinute: 240 },
}

export const GetConfig = route({
  method: 'GET',
  path: '/config',
  access: 'start',
  tag: 'operations',
  summary: 'Client configuration: contracts, limits, banks',
  description:
    'Contract addresses and signing domains, limits, banks, and validity periods. AUSD amounts ' +
    'are in 10⁻⁶, other currencies in their smallest unit. `currencies` has the minimum and ' +
    'maximum of one payment, `topups` the limits of a wallet for open top-ups and per day ' +
    'in the country of the payment. Payments through `hold.channels` are on hold for `hold.seconds` before they add to ' +
    'the limit. `requests` is the limit of a wallet; a `RateLimit` header of each response says how much ' +
    'of it is left. `chain.gasLimits` are for the calls that users send to the credit line ' +
    'themselves. It rarely changes: cache it for a minute and revalidate with the ETag.',
  returns: 'The configuration.',
  example: { answer: example },
  tagged: true,
  body: null,
  answer: Type.Object(
    {
      pairs,
      languages: Type.Array(LanguageName, {
        description: 'Languages of errors and sentences, for `Accept-Language`; the first is the default.',
      }),
      chain: Type.Object(
        {
          chainId,
          ausd,
          creditLine,
          treasury,
          gasLimits: Type.Object(
            {
              draw: gas,
              repay: gas,
              repayWithPermit: gas,
              repayFromCollateral: gas,
              withdrawCollateral: gas,
              setAutoRepay: Type.Optional(gas),
              approve: Type.Optional(gas),
            },
            {
              title: 'GasLimits',
              description:
                'Gas units sufficient for each function of the credit line, and for `approve` of the token, for any account. ' +
                '`setAutoRepay` and `approve` are missing if the credit line cannot repay automatically.',
            },
          ),
          dripWei: Type.Optional(
            amountOf(
              'Native coin, in wei, that a newly verified wallet gets. It pays for a draw, a repayment and two ' +
                'withdrawals at twice the least fee of the chain. A wallet with collateral or debt gets it again if it ' +
                'cannot pay these calls after a closed cycle, and twice more if it cannot pay one withdrawal: at most once ' +
                'a day (UTC), soon after a `GET /me`.',
            ),
          ),
        },
        { title: 'ChainTerms', description: 'Chain, contract addresses and gas limits.' },
      ),
      credit: Type.Object(
        {
          cycle: Type.Object(
            {
              minSeconds: seconds('Minimum duration for a cycle to count'),
              minDebt: cycle.properties.minDebt,
              termSeconds: seconds('Term of a cycle, from its first draw'),
              graceSeconds: seconds('Grace period after the term; a payment in it prevents a default'),
            },
            {
              title: 'CycleTerms',
              description:
                'A cycle counts once debt times seconds reaches `minDebt` times `minSeconds`. It must be ' +
                'closed within `termSeconds`. A payment within `graceSeconds` after that prevents a default.',
            },
          ),
          initialRatioBps: amountOf(
            'Share of the collateral that a new account may borrow, in hundredths of a percent.',
          ),
          cost,
        },
        { title: 'CreditTerms', description: 'Terms of the credit line.' },
      ),
      support: Type.Object(
        {
          contact: Type.String({
            description: 'E-mail address, or an https address. Sentences that send the user to support end with it.',
          }),
        },
        { title: 'SupportTerms', description: 'How users reach support.' },
      ),
      terms: Type.Optional(
        Type.Object(
          {
            version: Type.String({
              description: 'Current version: the value of the header `Accepted-Terms` once the user has accepted it.',
            }),
            url: Type.String({ description: 'Page with the terms.' }),
          },
          {
            title: 'ServiceTerms',
            description:
              'Terms of service. Until a wallet has accepted them, top-ups, cash-outs, sends and verification links are ' +
              'refused with `terms_not_accepted`. Omitted if there are none to accept.',
          },
        ),
      ),
      session: Type.Object(
        { secondsMax: seconds('Maximum lifetime of a session (`until`)') },
        { title: 'SessionTerms', description: 'Limits of a session.' },
      ),
      quote: Type.Object(
        { seconds: seconds('How long a quoted rate is valid'), spreads, cashoutFee, topupFees },
        { title: 'QuoteTerms', description: 'Validity and spreads of quotes, and the fees of cash-outs and top-ups.' },
      ),
      checkout: Type.Object(
        { seconds: seconds('How long a checkout is open'), methods, cancellationsPerDayMax },
        { title: 'CheckoutTerms', description: 'Lifetime of a checkout, and the payment methods.' },
      ),
      hold: Type.Object(
        {
          seconds: seconds('Duration of a hold'),
          channels: Type.Array(heldChannels.items, {
            description: 'Kinds of payment channel whose payments are put on hold.',
          }),
        },
        {
          title: 'HoldTerms',
          description: 'Payments that are put on hold, and for how long.',
        },
      ),
      currencies,
      topups: TopupTerms,
      statement: Type.Object(
        {
          daysMax: Type.Integer({ description: 'Longest period of a statement, in days.' }),
          itemsMax: Type.Integer({
            description: 'Maximum number of items of a statement: payments, cash-outs, and events each.',
          }),
        },
        { title: 'StatementTerms', description: 'Limits of a statement.' },
      ),
      cashouts: Type.Object(PayoutsTerms.answer.properties, {
        title: 'CashoutTerms',
        description: 'Limits of cash-outs, and the supported banks.',
      }),
      sends: Type.Object(
        { validBeforeSecondsMin: seconds('Minimum time until `validBefore`') },
        { title: 'SendTerms', description: 'Limits of sends.' },
      ),
      requests: Type.Object(
        {
          perMinute: Type.Integer({ description: 'Maximum number of requests with a session, per wallet and minute.' }),
        },
        { title: 'RequestTerms', description: 'Limits of requests, whatever address they come from.' },
      ),
    },
    { title: 'Config', description: 'Client configuration; durations in seconds.' },
  ),
})
