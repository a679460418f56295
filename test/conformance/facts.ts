/**
 * What the services rely on and nobody here could see for himself: found in recorded bodies, in other
 * people's code or in references that contradict each other. A step shows each. `run`: a run in test mode
 * confirms it; otherwise it can only fail to contradict it, and somebody else must say so.
 */
export const facts = {
  'ids-refused': {
    run: true,
    says: 'a look-up by an id of another form is answered 400, not 404',
    by: 'anybody with a test key',
    takes: 'seconds',
  },
  'refund-ids': {
    run: true,
    says: 'a refund leads to its payment by payment_request_id, else by payment_id',
    by: 'a payer: --interactive',
    takes: '10 minutes',
  },
  captures: {
    run: true,
    says: 'the captures of a payment add up to what was paid',
    by: 'a payer: --interactive; of a virtual account the first live payment',
    takes: '10 minutes; a day',
  },
  balance: {
    run: true,
    says: 'a key may read the balance, in the currency of its account, now and as it was',
    by: 'anybody with a test key that has the permission Balance Read',
    takes: 'seconds',
  },
  'stray-429': {
    run: false,
    says: 'a 429 with calls left is over within about a second',
    by: "the services' logs of a busy day: none can be ordered",
    takes: 'a day',
  },
  'account-budget': {
    run: false,
    says: 'the budget of calls is the account’s, whichever process calls',
    by: 'two people with one test key: 60 calls a minute together, then a 429',
    takes: '2 minutes',
  },
  'sender-ip': {
    run: false,
    says: 'a call from outside the allow-list is answered UNAUTHORIZED_SENDER_IP',
    by: 'whoever administers the dashboard: an allow-list without this address, then one call',
    takes: '5 minutes',
  },
  'account-zero': {
    run: false,
    says: 'an account of Bank Rakyat Indonesia with 14 digits is paid with a zero in front',
    by: 'the first live cash-out to such an account: test mode takes any number',
    takes: 'a day',
  },
  'payouts-v3': {
    run: true,
    says: 'payouts v3 take 2025-09-09, whole rupiah and SWIFT codes, and are found by reference',
    by: 'anybody with a test key of an account that has v3: PROVIDER_PAYOUTS_API=v3',
    takes: '8 minutes',
  },
  'sender-verification': {
    run: false,
    says: 'this merchant is not of the virtual-asset category, or its senders are verified',
    by: 'the provider, in writing; then a payment by BRI_VIRTUAL_ACCOUNT',
    takes: 'a week',
  },
  'bnm-session': {
    run: true,
    says: 'Bank Negara publishes a middle rate in the session we ask, and none in that of the counters',
    by: 'anybody: RATE_SOURCES=bnm, once more with BNM_SESSION=1130',
    takes: 'seconds',
  },
  'open-er-api-terms': {
    run: false,
    says: 'open.er-api.com may be compared with, and not quoted',
    by: 'whoever reads exchangerate-api.com/docs/free and its terms',
    takes: '10 minutes',
  },
  'identity-times': {
    run: false,
    says: 'a verdict names its moment, as createdAtMs or as createdAt, and leaves out what it lacks',
    by: 'whoever approves a test applicant, with the webhook leading here',
    takes: '10 minutes',
  },
  'identity-sparse': {
    run: false,
    says: 'a reset and a deletion come without sandboxMode, and withdraw all the same',
    by: 'whoever resets and deletes a test applicant in the dashboard',
    takes: '10 minutes',
  },
  'rpc-batches': {
    run: true,
    says: 'an endpoint that takes no batches says so at once',
    by: 'anybody: RPC_URLS',
    takes: 'seconds',
  },
  'ausd-switches': {
    run: true,
    says: 'AUSD has the switches of its issuer, and reverts with their errors',
    by: 'anybody: RPC_URLS; the errors themselves only when he uses them',
    takes: 'seconds',
  },
  'gas-limits': {
    run: false,
    says: 'the fixed gas limits are enough on the chain',
    by: '`bun run deploy --dry-run`, once all is in place',
    takes: '2 minutes',
  },
  'pool-texts': {
    run: false,
    says: 'the node refuses in the words of its source, and never takes such bytes later',
    by: "the relayer's log: `transaction not accepted` with the verdict unknown",
    takes: 'a week',
  },
} as const
export type FactName = keyof typeof facts
