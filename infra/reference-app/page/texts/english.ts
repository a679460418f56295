import type { GetRecord } from '#shared/api/record'
import type { RouteAnswer } from '#shared/api/route'
import type { GetStatement } from '#shared/api/statement'
import type { Item } from '#shared/client/client'
import type { Currency } from '#shared/money/money'
import { currencyNames } from '../format'

type Method = NonNullable<Item['method']>
type Statement = RouteAnswer<typeof GetStatement>
type Cycle = NonNullable<RouteAnswer<typeof GetRecord>['history']>['cycles'][number]
type Same<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Same<T[K]>
}
/** Texts of a language. The compiler refuses a language that lacks one. */
export type Texts = Same<typeof english>

export const english = {
  languageName: 'English',
  title: 'AUSD Credit',
  language: 'Language',
  skip: 'Skip to content',
  sectionsLabel: 'Sections',
  testOnly: 'A reference app for developers. No real money moves here.',
  loading: 'Loading your account…',
  working: 'Please wait…',
  tryAgain: 'Try again',
  choose: 'Choose…',
  yes: 'Yes',
  no: 'No',
  stale: 'Showing the last known state.',
  unknownNow: 'not known at the moment',

  welcome: 'Sign in',
  welcomeIntro: 'You sign in with a wallet. This test page creates one and keeps its key in this browser.',
  createWallet: 'Create a test wallet',
  ownKey: 'Private key of another test wallet',
  ownKeyHint: '0x and 64 hexadecimal digits. Never a key that holds real money.',
  notAKey: 'Enter 0x and 64 hexadecimal digits.',
  useKey: 'Use this key',

  /** Places of the navigation. A place with several sections has a tab for each. */
  places: { home: 'Home', in: 'Pay in', borrow: 'Borrow', out: 'Pay out', history: 'History' },
  sections: {
    account: 'Account',
    'top-up': 'Top up',
    borrow: 'Borrow',
    repay: 'Repay',
    'cash-out': 'Cash out',
    send: 'Send',
    activity: 'Activity',
    statement: 'Statement',
    record: 'Credit record',
  },

  inProgress: 'In progress',

  identity: 'Identity',
  identityVerified: 'Identity verified',
  verify: 'Verify your identity',
  openVerification: 'Open the verification page',
  toVerification: 'Go to the verification',
  verified: 'Your identity is verified.',
  creditLine: 'Credit line',
  available: 'You can borrow',
  owed: 'You owe',
  due: 'Due',
  nothingDue: 'nothing is due',
  collateral: 'Collateral',
  limit: 'Limit',
  score: 'Score',
  defaulted: 'A debt was not repaid in time.',
  frozen: 'Your account is frozen because a payment was reversed or may be. See Activity.',
  wallet: 'Wallet',
  balance: 'Balance',
  balanceIs: (amount: string) => `Your wallet holds ${amount}.`,
  gas: 'Network fees',
  hasGas: 'covered',
  noGasYet: 'covered shortly after you verify',
  leftToTopUp: 'You can still top up today',
  leftToCashOut: 'You can still cash out today',
  copyAddress: 'Copy the wallet address',
  copied: 'Copied',
  country: 'Country where you live',
  countryHint: 'You pay in ringgit in Malaysia, and in rupiah elsewhere.',
  save: 'Save',
  saved: 'Saved.',
  key: 'Key of this wallet',
  keyWarning: 'Signing out deletes the key from this browser. Copy it first if you want to come back.',
  copyKey: 'Copy the key',
  signOut: 'Sign out and delete the key',

  about: (local: string, ausd: string) => `about ${local} (${ausd})`,
  amountIn: (currency: Currency) => `Amount in ${currencyNames[currency]}`,
  forExample: (amount: string) => `For example ${amount}`,
  fromTo: (least: string, most: string) => `From ${least} to ${most}.`,
  atLeast: (least: string) => `At least ${least}.`,
  atMost: (most: string) => `At most ${most}.`,
  most: 'Maximum',
  notAnAmount: (example: string) => `Enter an amount such as ${example}.`,
  checkForm: 'Check the marked field.',
  getPrice: 'Show the rate',
  offer: 'Please confirm',
  youPay: 'You pay',
  youGet: 'You get about',
  youGetBy: (channel: string) => `You get about, by ${channel}`,
  otherwise: 'another channel',
  reference: 'Reference rate',
  spread: 'Our spread',
  validUntil: 'Rate valid until',
  offerEnded: 'This rate has expired. Show the latest one.',
  openCheckout: 'Continue to payment',
  accepted: 'Your order was accepted. You can follow it under Activity.',
  goToPayment: 'Go to the payment page',
  openUntil: (time: string) => `Open until ${time}.`,
  continue: 'Continue',
  cancel: 'Cancel this payment',

  topUpIntro: 'Pay in rupiah or ringgit. It becomes collateral, against which you can borrow.',
  holdIntro: (time: string) =>
    `Bank transfers and QR payments count at once. Card and e-wallet payments can be reversed, so they count after ${time}.`,
  hold: (time: string) => `This card payment will count after ${time}.`,
  payBy: 'Pay by',
  methods: { bank: 'Bank transfer', card: 'Card', qr: 'QR code' } satisfies Record<Method, string>,

  availableIs: (amount: string) => `You can borrow up to ${amount}.`,
  borrowIntro: 'The loan arrives in your wallet at once, in AUSD (dollars).',
  terms: (version: string) => `Terms of service, version ${version}`,
  acceptTerms: 'I accept these terms',
  borrowCost: (days: number) =>
    `Borrowing costs no interest and no fee; exchange rates have a spread, which each price shows. Repay within ${days} days of the first draw. A late repayment lowers your score; if the debt is still open a day after that, your collateral may be taken and you cannot borrow again.`,
  borrow: 'Borrow',
  borrowed: 'The AUSD is in your wallet.',

  debtIs: (amount: string) => `You owe ${amount}.`,
  payAll: 'Repay everything in rupiah or ringgit',
  payAllIntro: 'Repaying the whole debt ends this loan and updates your credit score.',
  payPart: 'Repay a part',
  payPartIntro: 'Top up first. When the top-up counts as collateral, repay any part of the debt from it.',
  repayPart: 'Repay from collateral',
  repaid: 'A part of your debt is repaid.',

  autoRepay: 'Automatic repayment',
  autoRepayIntro:
    'Allow it once, and each loan is repaid for you, from a day before it is due. It is off until you turn it on.',
  autoRepayFrom: 'Repay from',
  autoRepaySources: { wallet: 'AUSD in your wallet', collateral: 'Your collateral' },
  autoRepayMost: 'At most, for each loan',
  autoRepayMostIn: (currency: string) => `At most, for each loan, in ${currency}`,
  autoRepayWhen: 'When',
  autoRepayOnceADay: (time: string) => `from ${time}, one try a day`,
  autoRepaySoon: 'within an hour, then one try a day',
  autoRepayBeforeDue: 'from a day before your next loan is due, one try a day',
  autoRepayNotes: {
    wallet:
      'The AUSD must be in your wallet by then. The permission is for your own debt alone, and you can end it at any time.',
    collateral: 'This uses up collateral, so your limit falls. You can end the permission at any time.',
  },
  autoRepayConfirm: 'Allow automatic repayment',
  autoRepayDone: 'Automatic repayment is on.',
  autoRepayHalf: 'The first of two steps is done. Continue to turn automatic repayment on.',
  autoRepayChange: 'Change',
  autoRepayEnd: 'End automatic repayment',
  autoRepayEnded: 'Automatic repayment is off.',
  autoRepayLater: {
    wallet: (time: string, most: string) =>
      `This loan will be repaid automatically from your wallet, from ${time} on, at most ${most}.`,
    collateral: (time: string, most: string) =>
      `This loan will be repaid automatically from your collateral, from ${time} on, at most ${most}.`,
  },
  autoRepayNow: {
    wallet: (most: string) =>
      `This loan is now being repaid automatically from your wallet, with one try a day, at most ${most}.`,
    collateral: (most: string) =>
      `This loan is now being repaid automatically from your collateral, with one try a day, at most ${most}.`,
  },
  autoRepayNext: {
    wallet: (most: string) => `Your next loan will be repaid automatically from your wallet, at most ${most}.`,
    collateral: (most: string) => `Your next loan will be repaid automatically from your collateral, at most ${most}.`,
  },
  autoRepayUsed: (rest: string) =>
    `The amount that you allowed for this loan has been used. You still owe ${rest}: repay it yourself.`,
  autoRepayUnapproved: (needed: string) =>
    `The credit line may no longer take ${needed} from your wallet. Choose Change and confirm again.`,
  autoRepayRest: (rest: string) => `Your debt is more than you allow here. Repay the rest yourself: ${rest}.`,
  autoRepayShort: {
    wallet: (has: string, needed: string) =>
      `Your wallet holds ${has}, but ${needed} will be needed. Add AUSD in time, or repay another way.`,
    collateral: (has: string, needed: string) =>
      `Your collateral is ${has}, but ${needed} will be needed. Top up in time, or repay another way.`,
  },

  cashOutIntro: 'Your AUSD is exchanged into rupiah and sent to a bank account.',
  bank: 'Bank',
  bankHint: 'Type a name or a short name, such as BCA, and choose from the list.',
  chooseBank: 'Choose a bank from the list.',
  accountNumber: 'Account number',
  testAccounts: 'For tests: 1234567890 is in the name Sari Dewi, 999999 is refused by the bank.',
  accountDigits: (least: number, most: number) =>
    least === most ? `Enter ${least} digits.` : `Enter ${least} to ${most} digits.`,
  accountHolder: 'Name of the account holder',
  enterName: 'Enter the name.',
  checkAccount: 'Check this account',
  checkWhenVerified: 'Once you are verified, we can check this account for you.',
  youGive: 'You exchange',
  bankGets: 'The account receives',
  toAccount: 'To',
  signCashOut: 'Confirm the cash-out',

  sendIntro: 'Send AUSD to any wallet. You pay no network fee.',
  toWallet: 'Wallet address',
  notAWallet: 'Enter 0x and 40 hexadecimal digits.',
  signSend: 'Confirm and send',

  nothingYet: 'Nothing yet. Start with Top up.',
  show: 'Show',
  everything: 'Everything',
  period: 'Period',
  anyTime: 'Any time',
  lastDays: (days: number) => `Last ${days} days`,
  noneOfThese: 'Nothing of this kind on the pages that are loaded.',
  showOlder: 'Show older items',
  receipt: 'Print the receipt',
  status: 'Status',
  channel: 'Payment method',
  opened: 'Created',
  changed: 'Last change',
  transaction: 'Transaction',
  id: 'Reference',

  from: 'From',
  until: 'Until',
  chooseDay: 'Choose a day.',
  showStatement: 'Show the statement',
  downloadCsv: 'Download as CSV',
  print: 'Print',
  statementOf: (wallet: string) => `Statement of ${wallet}`,
  lines: (count: number) => (count === 1 ? '1 entry.' : `${count} entries.`),
  opening: 'Balances at the beginning',
  closing: 'Balances at the end',
  entry: 'Entry',
  amount: 'Amount',
  unchanged: 'Balances unchanged',
  balances: {
    collateral: 'Collateral',
    debt: 'Debt',
    inFlight: 'In flight',
    payouts: 'On the way to the bank',
  } satisfies Record<keyof Statement['opening'], string>,
  statementKinds: {
    topup: 'Top-up',
    settlement: 'Debt repayment received',
    cashout: 'Cash-out',
    cashout_paid: 'Cash-out paid to the bank',
    cashout_returning: 'Cash-out refused, AUSD on its way back',
    cashout_returned: 'Cash-out returned to the wallet',
    collateral_added: 'Collateral added',
    collateral_withdrawn: 'Collateral withdrawn',
    collateral_seized: 'Collateral used to repay the debt',
    topup_revoked: 'Top-up reversed',
    drawn: 'Borrowed',
    repaid: 'Debt repaid',
    repayment_revoked: 'Repayment reversed',
  } satisfies Record<Statement['items'][number]['kind'], string>,

  recordIntro: 'The record of any wallet is public. It has no name and no document.',
  showRecord: 'Show the record',
  recordShown: 'The record is shown below.',
  historyUnavailable: 'The history is not available at the moment.',
  closedCycles: 'Loans that ended',
  defaultedBefore: 'A debt was not repaid in time',
  cycle: (number: number) => `Loan ${number}`,
  outcome: 'Outcome',
  open: 'open',
  outcomes: {
    Qualified: 'repaid in time',
    Short: 'too short to count',
    Late: 'repaid late',
    Defaulted: 'not repaid',
    Reversed: 'a payment was reversed',
  } satisfies Record<NonNullable<Cycle['outcome']>, string>,
  peak: 'Highest debt',
  totalRepaid: 'Repaid',
  scoreAfter: 'Score afterwards',

  unknown: 'We have no answer yet. The same request is being sent again; you will not pay twice.',
  noAnswer: 'The service has not answered. Your money is safe; try again.',
  noCashOutRate:
    'No cash-outs for now: the currency market is closed, or rate sources disagree. Try again on the next banking day.',
  noGas: 'Your wallet cannot pay the network fee yet. Verify your identity and try again.',
  notDone: 'The transaction failed. No money was moved.',
  reverted: 'This transaction was refused. Load the page again, then try again.',
  /** Errors of the contracts that a user can cause, by their names. */
  contractErrors: {
    LimitExceeded: 'This amount exceeds the limit of your credit line.',
    TermPassed: 'Your debt is past its due date. Repay it before you borrow again.',
    NotVerified: 'Your identity is not verified yet.',
    AccountFrozen: 'Your account is frozen. See Activity.',
    AccountDefaulted: 'A debt was not repaid in time, so you cannot borrow again.',
    InsufficientCollateral: 'Your collateral is not enough for this amount.',
    InsufficientLiquidity: 'There is not enough money to lend right now. Try a smaller amount, or try again later.',
    NothingOwed: 'There is nothing to repay.',
    AutoRepayNotAllowed: 'Automatic repayment is switched off.',
    AutoRepayTooEarly: 'It is too early for an automatic repayment of this debt.',
    AutoRepayLimitReached: 'Your limit of automatic repayment is used up for this debt.',
  },
  orderOpen: 'An earlier order is still without an answer. Load the page again to continue it.',

  requests: 'Requests, for developers',
  requestsIntro: 'Each request of this page and its answer, newest first. $SESSION is the sign-in header.',
  request: 'Request',
  answer: 'Answer',
  noAnswerYet: 'no answer',
  copyCurl: 'Copy as curl',
  copyAnswer: 'Copy the answer',
} as const
