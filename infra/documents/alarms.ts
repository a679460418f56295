/** Log lines with `"alarm":true`. State limits have their own list. */
export type LogAlarm = {
  readonly source: string
  readonly lines: readonly string[]
  readonly steps: string
}

const fundLane =
  'Fund the lane: transactions in flight at their maximum fees, plus `LANE_MIN_BALANCE_WEI` and `LANE_REFILL_WEI`.'

export const logAlarms: readonly LogAlarm[] = [
  {
    source: 'shared',
    lines: ['clock of Postgres was set'],
    steps:
      "By `aheadMs` against this process. Set the server's clock right (NTP), or do nothing if it is right now: `select now()`. Breaks, alerts and refusals (expired quotes) since the first such line may be due to it, also those that accuse a key: act on none of them until `reconcile` has run twice with the right clock. Checkpoints, leases and checks of the time ahead are taken as unknown and done again. If every process logs it but the server's clock was right, the machines stood still.",
  },
  {
    source: 'services/payments',
    lines: ['payment needs manual review', 'payment paid twice', 'settlement overpaid'],
    steps: 'Compare the payment at the provider with its row, then `review resolve` ([daily.md](daily.md)).',
  },
  {
    source: 'services/payments',
    lines: ['refund refused', 'refund failed'],
    steps:
      'The payment is in review again. If its channel has no refunds, pay by bank transfer, then `accept` the payment, and `unexplained accept` the transfer once the books show it in suspense.',
  },
  {
    source: 'services/payments',
    lines: ['refund refused, earlier request not found'],
    steps: "Outcome unknown: look up the reference in the provider's dashboard.",
  },
  {
    source: 'services/payments',
    lines: ['payment reversed after hold, wallet frozen'],
    steps: 'See "wallet frozen" in [daily.md](daily.md).',
  },
  {
    source: 'services/payments',
    lines: ['refund or dispute undone, money is ours again'],
    steps: 'Credit or refund a payment that is in review.',
  },
  {
    source: 'services/payments',
    lines: ['refund of a second payment undone, it is owed'],
    steps:
      'The second payment is owed to its payer again. The payment is in review as `paid_twice`, or will be once its hold or its open refund has ended: `review show <payment>`, then `review resolve <payment> refund` refunds what is left of the second payment. If its channel has no refunds, pay by bank transfer, then `accept` the payment, and `unexplained accept` the transfer once the books show it in suspense.',
  },
  {
    source: 'services/payments',
    lines: ['reversal undone after it was repaid: give it back to the wallet'],
    steps: 'Pay the named amount to the person, then `wallets given-back <payment>`.',
  },
  {
    source: 'services/payments',
    lines: ['hold extended, money may be going back'],
    steps:
      "For 12 hours the hold could not end. In the provider's dashboard, look for a pending refund or dispute of the payment, or a charge that is no longer SUCCEEDED, and have the provider end it: the hold then ends, or the AUSD is revoked, automatically. If there is none, `dc logs payments` has `refund lookup failed` with the reason. A day after `extendedAt` the contract extends the hold no further, and the wallet is frozen.",
  },
  {
    source: 'services/payments',
    lines: ['hold could not be kept, wallet frozen'],
    steps: "Look the payment up in the provider's dashboard. The freeze ends when it is final there.",
  },
  {
    source: 'services/payments',
    lines: ['money may be going back, wallet frozen'],
    steps:
      'A refund or dispute is open, or the money was refunded before its credit: `ops trace <payment>`. The freeze ends when that fails, or when the loss is repaid.',
  },
  {
    source: 'services/payments',
    lines: ['dispute is lost unless it is answered in time'],
    steps:
      "The payer's bank disputes the payment. Before `evidenceDueAt`, challenge it with evidence or accept it in the provider's dashboard (Disputes): without an answer it is lost, and the provider sends no reminder. `ops trace <payment>` shows what it paid for. Until the decision the hold goes on or the wallet stays frozen; both end automatically. Without `paymentId` the dispute names no payment of ours: if the dashboard shows one, `review charge <dispute> <charge>`.",
  },
  {
    source: 'services/payments',
    lines: ['webhook object not found at provider'],
    steps:
      "A refund or dispute that cannot be fetched names a payment of ours, so that its hold goes on or its wallet is frozen. Look the object up in the provider's dashboard. The doubt ends once it can be fetched: resend its webhook there. If it does not exist, `wallets clear <wallet>`.",
  },
  {
    source: 'services/payments',
    lines: ['unknown webhook event recorded'],
    steps:
      "No service handles this event. Find its object in the provider's dashboard: if it moves money, decide there; then end the subscription of the topic, or add its family to `delivery.ts`.",
  },
  {
    source: 'services/payments',
    lines: ['late payment has no exchange rate yet'],
    steps: 'Check the rate sources: `bus micro stats pricing --json`.',
  },
  {
    source: 'services/payments',
    lines: ['hold extension failed'],
    steps: 'The provider was silent for a day: decide by its dashboard.',
  },
  {
    source: 'services/payments',
    lines: ['wallet freeze or unfreeze failed'],
    steps: '`dc logs chain-relayer` has the reason; repeat it by hand with `VERIFIER_ROLE`.',
  },
  {
    source: 'services/payments',
    lines: ['treasury low on AUSD', 'treasury unreadable, top-ups refused'],
    steps: 'Send AUSD to the treasury, or check chain-relayer and its endpoints.',
  },
  {
    source: 'services/payments',
    lines: [
      'charge does not match any payment',
      'provider transaction does not match any payment',
      'unclear report from provider',
    ],
    steps: "Find the object of `payments.anomalies` in the provider's dashboard; add a new status to `mapping.ts`.",
  },
  {
    source: 'services/payments',
    lines: ['dispute of one of several charges'],
    steps:
      "The payment was paid more than once, and the dispute names only the payment. All its charges are in doubt until the dispute is won or its charge is known. Find the charge in the provider's dashboard (by amount, time or payer), then `review charge <dispute> <charge>`; `review show <payment>` lists the charges.",
  },
  {
    source: 'services/payments',
    lines: ['provider refused lookup of our object', 'checkout not found at provider', 'checkout refused by provider'],
    steps: 'Wrong key or account, or missing permission or channel: see the code in the line before.',
  },
  {
    source: 'services/payments',
    lines: ['hold not found on chain', 'relayer report for unknown payment'],
    steps: 'Wrong contract, two environments on one bus, or too old a backup.',
  },
  {
    source: 'services/payouts',
    lines: ['provider low on rupiah', 'provider balance unreadable, cash-outs refused'],
    steps: 'Fund the Indonesian account, or check *Balance Read* and the IP allow-list.',
  },
  {
    source: 'services/payouts',
    lines: ['payout needs manual review', 'unexpected payout at provider'],
    steps:
      "Compare the payout in the provider's dashboard with the row and `payouts.anomalies`. " +
      '`provider_refuses`: the account refuses orders or look-ups with the code in `says`. Have it allow them; ' +
      'the cash-out then continues. If the dashboard has its payout, resend the webhook there. If only look-ups ' +
      'of a version that the account never used are refused, set `PROVIDER_PAYOUTS_API` to `v2-only` or `v3-only`.',
  },
  {
    source: 'services/payouts',
    lines: ['AUSD taken for unknown cash-out', 'AUSD return failed permanently'],
    steps:
      'After a restore, or the promotion of a standby that lagged, its row is missing: restore it first ' +
      '([restore](restore.md)). Otherwise find the transaction with `trace`; the AUSD belongs to its sender.',
  },
  {
    source: 'services/payouts',
    lines: ['AUSD kept, as its payout exists'],
    steps:
      "An old backup brought back the row as it was before its payout. If the payout failed, nothing is to be done: the AUSD is returned when the relayer reports the take again. Otherwise run `update payouts.payouts set state = 'taking', reason = null, next_check_at = now() where id = … and state in ('opening', 'expired', 'failed')`: the take is reported again, and the payout is looked up and followed, not ordered again. After some minutes `trace <cash-out>` shows it as `paid`, and `reconcile` ends with `the books balance`.",
  },
  {
    source: 'services/gateway',
    lines: ['verified flag not set on chain', 'native coin drip failed', 'identity order unanswered, giving up'],
    steps: '`dc logs chain-relayer` has the reason; a flag: `persons order <wallet>`.',
  },
  {
    source: 'services/gateway',
    lines: ['verified wallet unknown to identity provider'],
    steps: 'Its record was deleted, or the key is of another account. Verify the user again.',
  },
  {
    source: 'services/gateway',
    lines: ['identity deleted at provider despite a claim'],
    steps:
      'The wallet owes or has defaulted, and the provider no longer recognises the borrower, who could begin a second record. Ask the provider to restore the applicant or to block the borrower. If the user asked the provider for the deletion, tell them that their data is needed for the claim.',
  },
  {
    source: 'services/gateway',
    lines: ['reminders of due debts not sent'],
    steps:
      'Check indexer-reader and chain-relayer: without them no date is known. A reminder that is no longer true is left out afterwards.',
  },
  {
    source: 'services/gateway',
    lines: ['identity webhook not applied'],
    steps: '`kind` gives the cause: an unreadable event, or a verdict on an unknown wallet.',
  },
  {
    source: 'services/gateway',
    lines: ['stream nearly full'],
    steps: 'See "stream nearly full" in [daily.md](daily.md).',
  },
  {
    source: 'shared',
    lines: ['durable consumer is gone'],
    steps:
      'Its messages wait: nothing is lost, and nothing that they order happens. `dc run --rm provision` creates it again, and it then delivers every stored message once more, which the inbox recognises. If it was not deleted by hand, its file was damaged: `dc logs nats | grep -i consumer`, and check the disk.',
  },
  {
    source: 'shared',
    lines: ['message dead-lettered', 'redrive failed, message dead-lettered again'],
    steps: 'See "dead letters" in [daily.md](daily.md).',
  },
  {
    source: 'shared',
    lines: ['provider transaction list incomplete'],
    steps: 'The key lacks *Transaction Read*, or the provider is down.',
  },
  {
    source: 'shared',
    lines: ['provider rejected request'],
    steps: 'See its code: key, permission or IP allow-list.',
  },
  {
    source: 'shared',
    lines: ['endpoint serves another chain, not used'],
    steps:
      'The service uses its other endpoints. Correct or remove `endpoint` in `RPC_URLS`, then `dc up -d`. If `reason` names a block at another endpoint, one of the two serves another history: compare both with a block explorer. If every endpoint is named, see `reason`: `CHAIN_ID`, `GENESIS_HASH` or an address is of another chain ([Contracts](deploy.md#7-contracts)).',
  },
  {
    source: 'services/chain-relayer',
    lines: ['lane is blocked: '],
    steps: 'See "lane is blocked" in [daily.md](daily.md).',
  },
  {
    source: 'services/chain-relayer',
    lines: ['newest block is old, lanes wait: check RPC_URLS and the clock'],
    steps:
      'An endpoint does not respond, and the others lag, the chain stands still, or the clock of Postgres is wrong. Lanes that are not leased yet give out no nonce until a recent block is read or every endpoint responds.',
  },
  {
    source: 'services/chain-relayer',
    lines: [
      'lane balance too low for new transactions: fund it',
      'lane balance too low for a fee bump: fund it',
      'lane balance too low for drips: fund it',
      'lane needs a refill',
    ],
    steps: fundLane,
  },
  {
    source: 'services/chain-relayer',
    lines: ['transaction not accepted'],
    steps: 'If `unfunded`, fund the lane; the relayer corrects the rest.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['operation blocked: treasury, pause, freeze or role'],
    steps:
      'Fund the treasury, renew its allowance, end the pause, or grant the role. If the issuer of AUSD froze the treasury, the credit line or every lane, only the issuer can end the freeze; replace a frozen lane as below.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['lane frozen by the issuer of AUSD'],
    steps:
      'The token refuses calls of `lane`, so other lanes send its transactions; nothing is lost. Ask the issuer (Agora) for the reason and to end the freeze. If it does not, [replace the key](secrets.md#a-lane-key-is-stolen).',
  },
  {
    source: 'services/chain-relayer',
    lines: ['policy refused an operation, needs manual review'],
    steps:
      "An order above a limit. If it is legitimate, raise the limit in `why`, or wait for the next UTC day. Otherwise change the ordering service's password, then `update chain_relayer.operation set state = 'failed' where id = … and state = 'waiting'`.",
  },
  {
    source: 'services/chain-relayer',
    lines: ['policy refused a fee bump'],
    steps: 'Raise the limit that was lowered below a transaction in flight.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['wallet exceeded its daily gas budget'],
    steps: 'Inspect the code at its address; it is refused until midnight in Jakarta.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['base fee above its cap'],
    steps: 'Pay the higher fees, or stop chain-relayer.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['chain head has not advanced', 'chain head has not advanced, fee bumps paused'],
    steps: 'Check the chain and the endpoints.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['treasury transfer scan is lagging', 'giveback check failed, will retry'],
    steps: 'Check the endpoints; nothing is lost.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['nonce used but no receipt found', 'authorization use not found'],
    steps: 'Search the explorer for the lane, or for `AuthorizationUsed` of the wallet and nonce.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['lane key used by another sender'],
    steps: 'The key has leaked: [replace it](secrets.md#a-lane-key-is-stolen).',
  },
  {
    source: 'services/chain-relayer',
    lines: ['operation reverted permanently', 'operation failed'],
    steps: 'The row has the reason; nothing is retried.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['authorization of a failed take used elsewhere'],
    steps: 'The wallet signed the nonce twice: check which AUSD that transaction moved.',
  },
  {
    source: 'services/chain-relayer',
    lines: ['giveback no longer owed'],
    steps:
      "`why` has the reason. To end it: `update chain_relayer.operation set state = 'failed' where id = … and state = 'waiting'`.",
  },
  {
    source: 'services/pricing',
    lines: ['no rate to quote'],
    steps: 'See "quotes get 503" in [daily.md](daily.md).',
  },
  {
    source: 'infra/operations',
    lines: ['reconciliation break open'],
    steps: 'See Breaks in the books, below.',
  },
  {
    source: 'infra/operations',
    lines: ['chain or provider read failed, will retry'],
    steps: 'Check the RPC endpoints and the provider key.',
  },
  {
    source: 'infra/operations',
    lines: ['heartbeat missed'],
    steps:
      '`through` stores nothing, although it may answer: a row (`postgres`) or a message (a stream) is written every 15 s, and `says` has the reason. `postgres`: `dc exec postgres df -h /var/lib/postgresql`; if it is read-only, the disk was full or the URL leads to a standby; free space, or correct the URL. A stream: `bus stream report`; if it is full, see "stream nearly full" in [daily.md](daily.md). If a stream times out while the others store, the disk of NATS was full: nats-server then takes no message of that stream until it is restarted, also when there is space again. Free space, then `dc restart nats`. Nothing is lost: the outboxes publish what waits.',
  },
  {
    source: 'infra/operations',
    lines: ['pruning failed'],
    steps: 'See `err`; tables grow until it is fixed.',
  },
]
