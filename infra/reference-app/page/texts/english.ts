import type { GetRecord } from '#shared/api/record'
import type { AnswerOf } from '#shared/api/route'
import type { GetStatement } from '#shared/api/statement'
import type { Item } from '#shared/client/client'

type Method = NonNullable<Item['method']>
type Statement = AnswerOf<typeof GetStatement>
type Cycle = NonNullable<AnswerOf<typeof GetRecord>['history']>['cycles'][number]
/** The texts of a language have the same names, and their functions the same values. */
type Same<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Same<T[K]>
}
/** Every text of the page. The compiler refuses a language in which one is missing. */
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
  welcomeIntro:
    'You sign in with a wallet. This test page creates one and keeps its key in this browser.',
  createWallet: 'Create a test wallet',
  ownKey: 'Private key of another test wallet',
  ownKeyHint: '0x and 64 hexadecimal digits. Never a key that holds real money.',
  notAKey: 'Enter 0x and 64 hexadecimal digits.',
  useKey: 'Use this key',

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

  identity: 'Identity',
  identityVerified: 'Identity verified',
  verify: 'Verify your identity',
  openVerification: 'Open the verification page',
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
  frozen: 'Your account is frozen because a payment was reversed. See Activity.',
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
  keyWarning:
    'Signing out deletes the key from this browser. Copy it first if you want to come back.',
  copyKey: 'Copy the key',
  signOut: 'Sign out and delete the key',

  amountIn: (currency: string) => `Amount in ${currency}`,
  forExample: (amount: string) => `For example ${amount}`,
  notAnAmount: (example: string) => `Enter an amount such as ${example}.`,
  checkForm: 'Check the marked field.',
  getPrice: 'Show the price',
  offer: 'Please confirm',
  youPay: 'You pay',
  about: 'You get about',
  rate: 'Exchange rate',
  perDollar: (amount: string) => `${amount} per dollar`,
  reference: 'Reference rate',
  spread: 'Our spread',
  validUntil: 'Price valid until',
  offerEnded: 'This price has ended. Ask for a new one.',
  openCheckout: 'Continue to payment',
  checkoutOpen: 'Your checkout is open. Pay on the payment page.',
  goToPayment: 'Go to the payment page',
  openUntil: (time: string) => `Open until ${time}.`,
  cancel: 'Cancel this payment',

  topUpIntro: 'Pay in local money. It becomes collateral, against which you can borrow.',
  holdIntro: (time: string) =>
    `Bank transfers and QR payments count at once. Card and e-wallet payments can be reversed, so they count after ${time}.`,
  hold: (time: string) => `This card payment will count after ${time}.`,
  payBy: 'Pay by',
  methods: { bank: 'Bank transfer', card: 'Card', qr: 'QR code' } satisfies Record<Method, string>,

  availableIs: (amount: string) => `You can borrow up to ${amount}.`,
  borrowIntro: 'Your wallet borrows directly from the credit line, and the AUSD arrives in it.',
  borrow: 'Borrow',
  borrowed: 'The AUSD is in your wallet.',

  debtIs: (amount: string) => `You owe ${amount}.`,
  payAll: 'Repay everything in local money',
  payAllIntro: 'A payment of the whole debt closes the cycle and moves your score.',
  payPart: 'Repay a part',
  payPartIntro:
    'Top up first. When the top-up counts as collateral, repay any part of the debt from it.',
  repayPart: 'Repay from collateral',
  repaid: 'This part of the debt is repaid.',

  cashOutIntro: 'Your wallet signs a transfer of AUSD, and your bank receives rupiah.',
  bank: 'Bank',
  chooseBank: 'Choose a bank.',
  accountNumber: 'Account number',
  testAccounts: 'For tests: 1234567890 is in the name Sari Dewi, 999999 is refused by the bank.',
  accountDigits: (least: number, most: number) =>
    least === most ? `Enter ${least} digits.` : `Enter ${least} to ${most} digits.`,
  accountHolder: 'Name of the account holder',
  enterName: 'Enter the name.',
  checkAccount: 'Check this account',
  youGive: 'You give',
  bankGets: 'The bank receives',
  toAccount: 'To',
  signCashOut: 'Sign and cash out',
  cashOutAccepted: 'Your cash-out is on its way. Follow it under Activity.',

  sendIntro: 'Send AUSD to any wallet. You pay no network fee.',
  toWallet: 'Wallet address',
  notAWallet: 'Enter 0x and 40 hexadecimal digits.',
  signSend: 'Sign and send',
  sendAccepted: 'Your transfer is on its way. Follow it under Activity.',

  nothingYet: 'Nothing yet. Start with Top up.',
  showOlder: 'Show older items',
  receipt: 'Receipt to print',
  status: 'Status',
  reason: 'Reason',
  channel: 'Channel',
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
  balances: {
    collateral: 'Collateral',
    debt: 'Debt',
    inFlight: 'In flight',
    payouts: 'On the way to the bank',
  } satisfies Record<keyof Statement['opening'], string>,
  statementKinds: {
    topup: 'Top-up',
    settlement: 'Debt repayment paid',
    cashout: 'Cash-out',
    collateral_added: 'Collateral added',
    collateral_withdrawn: 'Collateral withdrawn',
    collateral_seized: 'Collateral seized',
    topup_revoked: 'Top-up reversed',
    drawn: 'Borrowed',
    repaid: 'Debt repaid',
    repayment_revoked: 'Repayment reversed',
  } satisfies Record<Statement['items'][number]['kind'], string>,

  recordIntro: 'The record of any wallet is public. It has no name and no document.',
  showRecord: 'Show the record',
  recordShown: 'The record is shown below.',
  historyUnavailable: 'The history is not available at the moment.',
  closedCycles: 'Closed cycles',
  defaultedBefore: 'A debt was not repaid in time',
  cycle: (number: number) => `Cycle ${number}`,
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

  unknown:
    'No answer yet, so we do not know whether it was accepted. The same order is sent again.',
  noAnswer: 'The service does not answer. Nothing is lost; try again.',
  noGas: 'Your wallet cannot pay the network fee yet. Verify your identity and try again.',
  notDone: 'The network did not carry it out. Nothing was moved.',
  reverted: (name: string) => `The credit line refuses this: ${name}.`,
  orderOpen: 'An earlier order is still without an answer. Load the page again to continue it.',

  requests: 'Requests, for developers',
  requestsIntro:
    'Each request of this page and its answer, newest first. $SESSION is the sign-in header.',
  request: 'Request',
  answer: 'Answer',
  noAnswerYet: 'no answer',
  copyCurl: 'Copy as curl',
  copyAnswer: 'Copy the answer',
} as const
