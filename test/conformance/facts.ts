/**
 * Assumptions from recorded bodies, third-party code or contradicting references. `run` means that a test-mode run
 * confirms it. Otherwise a run can only fail to contradict it, and `by` must confirm it.
 */
export const facts = {
  'ids-refused': {
    run: true,
    says: 'a lookup by a malformed id returns 400, not 404',
    by: 'a run with a test key',
    takes: 'seconds',
  },
  'refund-ids': {
    run: true,
    says: 'a refund refers to its payment by payment_request_id or payment_id',
    by: 'a payer: --interactive',
    takes: '10 minutes',
  },
  captures: {
    run: true,
    says: 'the captures of a payment add up to the paid amount',
    by: 'a payer: --interactive; for virtual accounts the first live payment',
    takes: '10 minutes; a day',
  },
  balance: {
    run: true,
    says: "a key can read the balance in the account's currency, now and in the past",
    by: 'a run with a test key that has the permission Balance Read',
    takes: 'seconds',
  },
  'stray-429': {
    run: false,
    says: 'a 429 with calls left is over within about a second',
    by: "the services' logs of a busy day: it cannot be provoked",
    takes: 'a day',
  },
  'account-budget': {
    run: false,
    says: 'the call budget is per account, not per process',
    by: 'two machines with one test key: 60 calls a minute together, then a 429',
    takes: '2 minutes',
  },
  'sender-ip': {
    run: false,
    says: 'a call from outside the allow-list returns UNAUTHORIZED_SENDER_IP',
    by: 'an administrator of the dashboard: an allow-list without this address, then one call',
    takes: '5 minutes',
  },
  'account-zero': {
    run: false,
    says: 'a Bank Rakyat Indonesia account with 14 digits is paid with a leading zero',
    by: 'the first live cash-out to such an account: test mode accepts any number',
    takes: 'a day',
  },
  'payouts-v3': {
    run: true,
    says: 'payouts v3 accept 2025-09-09, whole rupiah and SWIFT codes, and are found by reference',
    by: 'a run with a test key of an account that has v3: PROVIDER_PAYOUTS_API=v3',
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
    says: 'Bank Negara publishes a middle rate in our session, and none in the counter session',
    by: 'a run with RATE_SOURCES=bnm, and another with BNM_SESSION=1130',
    takes: 'seconds',
  },
  'open-er-api-terms': {
    run: false,
    says: 'rates of open.er-api.com may be compared with, but not quoted',
    by: 'a reader of exchangerate-api.com/docs/free and its terms',
    takes: '10 minutes',
  },
  'indodax-ticker': {
    run: true,
    says: 'Indodax gives the price of USDT in rupiah without a key, within 1 % of that of a dollar',
    by: 'a run with RATE_SOURCES=frankfurter,indodax, and quotes of a week',
    takes: 'a week',
  },
  'identity-times': {
    run: false,
    says: 'a verdict has its time as createdAtMs or createdAt, and omits unknown fields',
    by: 'a user of the dashboard: approve a test applicant, with the webhook pointing here',
    takes: '10 minutes',
  },
  'identity-sparse': {
    run: false,
    says: 'a reset and a deletion have no sandboxMode, and still withdraw the verdict',
    by: 'a user of the dashboard: reset and delete a test applicant',
    takes: '10 minutes',
  },
  'identity-persons': {
    run: false,
    says: 'an approval has a duplicates check (Sumsub) or an account of its person (Persona)',
    by: 'a user of the dashboard: approve two test applicants with one document, and look up both',
    takes: '20 minutes',
  },
  'rpc-batches': {
    run: true,
    says: 'an endpoint without batch support refuses a batch at once',
    by: 'a run with RPC_URLS',
    takes: 'seconds',
  },
  'ausd-switches': {
    run: true,
    says: "AUSD has the issuer's switches, and reverts with their errors",
    by: 'a run with RPC_URLS; the errors only once the issuer uses a switch',
    takes: 'seconds',
  },
  'gas-limits': {
    run: false,
    says: 'the fixed gas limits are sufficient on the chain',
    by: '`bun run deploy --dry-run`, once everything is configured',
    takes: '2 minutes',
  },
  'pool-texts': {
    run: false,
    says: "the node's refusals match its source, and a refused transaction is never mined",
    by: "the relayer's log: `transaction not accepted` with the verdict unknown",
    takes: 'a week',
  },
} as const
export type FactName = keyof typeof facts
