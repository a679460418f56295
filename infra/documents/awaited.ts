/** Something that waits, and that binds money, a user or an operator until it ends. */
export type Awaited = {
  readonly what: string
  /** Tables that hold it, as `schema.table`. */
  readonly tables: readonly string[]
  /** Whom or what it binds. */
  readonly binds: string
  /** What ends it, by time or by whose act. */
  readonly ends: string
  /** Who can make it last longer, and by how much. */
  readonly prolonged: string
  /** Alarms if it does not end: log lines, alarms of states, alerts, or commands of `ops`. */
  readonly alarms: readonly string[]
}

/**
 * Everything that waits, with its end. A test fails for a table that is neither here nor in `resting`, and for an alarm
 * that nothing raises.
 */
export const awaited: readonly Awaited[] = [
  {
    what: 'quote',
    tables: ['pricing.quotes_taken'],
    binds: 'us to a rate',
    ends: '`QUOTE_TTL_MS` after it was given, at most 5 minutes; used once',
    prolonged: 'nobody: its end is part of its signed id',
    alarms: [],
  },
  {
    what: 'open checkout',
    tables: ['payments.payments', 'payments.promise_parts'],
    binds: 'the rate, and AUSD of the treasury: of a wallet at most half of what is free',
    ends: '`CHECKOUT_TTL_MS` after it was opened, or when it is cancelled; later money gets the worse rate',
    prolonged: 'nobody: the provider closes it, and we no longer count it',
    alarms: ['checkout not opened in time', 'checkout outcome unknown'],
  },
  {
    what: 'received money that is not on the chain',
    tables: ['payments.payments'],
    binds: 'the payer’s money, and AUSD of the treasury',
    ends: 'when the relayer reports the credit or repayment, which is ordered again until then',
    prolonged: 'a pause of relaying, a treasury without AUSD',
    alarms: ['payment not recorded on chain', 'late payment still has no exchange rate', 'CreditSlow'],
  },
  {
    what: 'payment in review',
    tables: ['payments.payments', 'payments.resolutions'],
    binds: 'the money that is in doubt; of a settlement, only what does not surely repay the debt',
    ends: '`ops review resolve`, or the provider takes back what caused it',
    prolonged: 'operators',
    alarms: ['payment needs manual review', 'PaymentNeedsReview'],
  },
  {
    what: 'hold',
    tables: ['payments.payments'],
    binds: 'the wallet’s new collateral, or the debt that was repaid',
    ends: '`HOLD_SECONDS` after the credit, by the contract alone',
    prolonged:
      'us, by at most a day, while a refund or dispute is open or the provider cannot be read; then the wallet is frozen',
    alarms: ['hold has not ended', 'hold extended, money may be going back', 'hold extension failed'],
  },
  {
    what: 'refund or dispute that is open at the provider',
    tables: ['payments.refunds'],
    binds: 'the hold, or freezes the wallet',
    ends: 'the provider’s last word, for which it is asked hourly; `ops wallets clear` before it',
    prolonged: 'provider and bank',
    alarms: [
      'money may be going back, wallet frozen',
      'dispute is lost unless it is answered in time',
      'ops wallets list',
    ],
  },
  {
    what: 'loss after a hold',
    tables: ['payments.reversals', 'payments.wallets'],
    binds: 'freezes the wallet',
    ends: 'top-ups by bank or QR that repay it, the provider undoing it, or `ops wallets clear`, which `ops wallets reclaim` undoes; a freeze by hand, `ops wallets unfreeze`',
    prolonged: 'the wallet, which stays frozen until then',
    alarms: ['payment reversed after hold, wallet frozen', 'wallet freeze or unfreeze failed', 'ops wallets list'],
  },
  {
    what: 'refund that we ordered',
    tables: ['payments.refund_orders', 'payments.returned_transfers'],
    binds: 'the payer’s money, and AUSD that came back for it',
    ends: 'the provider’s last word; if it fails, the payment is in review again, or credited as before',
    prolonged: 'the provider',
    alarms: ['refund not completed by provider', 'refund refused, earlier request not found'],
  },
  {
    what: 'order to revoke',
    tables: ['payments.payments'],
    binds: 'AUSD of a wallet whose money went back',
    ends: 'when the relayer reports it; it is assigned before any other work, also during a pause',
    prolonged: 'nobody: if it comes after the hold, the wallet is frozen',
    alarms: ['payment not revoked on chain'],
  },
  {
    what: 'cash-out whose quote is being taken',
    tables: ['payouts.payouts'],
    binds: 'the rate, rupiah at the provider, and the limits of the wallet and the bank account',
    ends: 'a minute after the request',
    prolonged: 'nobody',
    alarms: ['cash-out neither accepted nor ended'],
  },
  {
    what: 'signed transfer that is accepted: take of a cash-out, send',
    tables: ['payouts.payouts', 'chain_relayer.operation'],
    binds: 'the rate of a cash-out; rupiah and limits only if the signature is of a key, not of a contract',
    ends: 'five minutes after its acceptance, by the clock of Postgres, also while nothing can be read',
    prolonged: 'nobody; AUSD that arrives later is given back',
    alarms: ['cash-out AUSD not taken', 'oldest operation pending too long'],
  },
  {
    what: 'cash-out that an operator holds, or whose bank account is refused',
    tables: ['payouts.payouts', 'payouts.refused_accounts'],
    binds: 'the user’s AUSD, and rupiah at the provider',
    ends: '`ops cashouts release` or `cancel`; a refused account is first allowed by `ops accounts allow`',
    prolonged: 'operators',
    alarms: ['cash-out not ordered at provider'],
  },
  {
    what: 'payout',
    tables: ['payouts.payouts'],
    binds: 'the user’s AUSD, and rupiah at the provider',
    ends: 'the provider’s last word; a failure returns the AUSD',
    prolonged: 'provider and bank',
    alarms: ['cash-out not ordered at provider', 'bank transfer outcome unknown', 'ProviderOutcomesUnknown'],
  },
  {
    what: 'return of AUSD',
    tables: ['payouts.payouts'],
    binds: 'the user’s AUSD',
    ends: 'when the relayer reports it; it is ordered again until then',
    prolonged: 'a treasury without AUSD',
    alarms: ['cash-out AUSD not returned', 'AUSD return failed permanently'],
  },
  {
    what: 'order at the relayer',
    tables: ['chain_relayer.operation'],
    binds: 'what its service promised',
    ends: 'when its transaction is final; an order that would revert fails after the finalized state agrees',
    prolonged: 'pause of relaying, lanes without coin, a chain that cannot be read',
    alarms: ['oldest operation pending too long', 'policy refused an operation, needs manual review', 'LaneBlocked'],
  },
  {
    what: 'transaction, with its nonce',
    tables: ['chain_relayer.transaction', 'chain_relayer.attempt', 'chain_relayer.lane'],
    binds: 'its operations, and the later nonces of its lane',
    ends: 'a final receipt of any attempt; fees rise up to the cap, then a noop uses the nonce',
    prolonged: 'a base fee above the cap, a lane without coin',
    alarms: [
      'transaction not accepted',
      'lane is blocked',
      'nonce used but no receipt found',
      'base fee above its cap',
    ],
  },
  {
    what: 'failed take that anyone may still submit',
    tables: ['chain_relayer.operation'],
    binds: 'nothing',
    ends: 'an hour after it failed, or with its validity; the scan of the treasury’s transfers finds a later use, which is given back',
    prolonged: 'nobody',
    alarms: ['treasury transfer scan is lagging', 'authorization of a failed take used elsewhere'],
  },
  {
    what: 'request to return unexplained AUSD',
    tables: ['chain_relayer.giveback_request'],
    binds: 'AUSD in the treasury that belongs to its sender',
    ends: 'when the finalized chain shows the transfer: ordered or refused, with the reason',
    prolonged: 'a chain that cannot be read',
    alarms: ['giveback check failed, will retry', 'giveback no longer owed', 'ops unexplained list'],
  },
  {
    what: 'verdict on an identity that is not on the chain',
    tables: ['gateway.identities'],
    binds: 'a user who may not borrow yet, or who still may',
    ends: 'when the relayer reports flag and coin; after the last repeat an operator orders it',
    prolonged: 'the relayer',
    alarms: ['identity verdict not on chain', 'identity order unanswered, giving up', 'ops persons list'],
  },
  {
    what: 'identity at the provider',
    tables: ['gateway.identity_links', 'gateway.identity_rechecks', 'gateway.persons'],
    binds: 'the wallet’s right to borrow',
    ends: 'the provider’s verdict, for which it is asked again; an approval is asked for as long as it stands',
    prolonged: 'the user, who need not finish',
    alarms: [
      'verified wallet unknown to identity provider',
      'identity deleted at provider despite a claim',
      'ops persons list',
    ],
  },
  {
    what: 'debt',
    tables: ['indexer_reader.cycles', 'indexer_reader.records'],
    binds: 'the wallet’s collateral',
    ends: 'its repayment, or a default, which anyone may call a week after term and grace',
    prolonged:
      'a restored repayment, by a day, at most to the last possible revocation; a pause of the contract, by its length',
    alarms: ['reminders of due debts not sent', 'RecordBehind'],
  },
  {
    what: 'pause',
    tables: ['payments.pauses', 'payouts.pauses', 'chain_relayer.pauses'],
    binds: 'all users of the operation',
    ends: '`ops resume`',
    prolonged: 'operators',
    alarms: ['ops status', 'CreditSlow'],
  },
  {
    what: 'message that is not sent',
    tables: ['payments.outbox', 'payouts.outbox', 'chain_relayer.outbox', 'gateway.outbox'],
    binds: 'its order or announcement',
    ends: 'when JetStream acknowledges it; it is sent again until then',
    prolonged: 'a stream that takes no messages',
    alarms: ['OutboxStuck', 'HeartbeatMissed'],
  },
  {
    what: 'message that cannot be handled',
    tables: ['payments.dead_letter', 'payouts.dead_letter', 'chain_relayer.dead_letter', 'gateway.dead_letter'],
    binds: 'its order or report',
    ends: '`ops dead-letters redrive` or `drop`',
    prolonged: 'operators',
    alarms: ['message dead-lettered', 'DeadLetters'],
  },
  {
    what: 'row of the provider’s list without an explanation',
    tables: [
      'payments.anomalies',
      'payouts.anomalies',
      'payments.listings',
      'payouts.listings',
      'gateway.identity_anomalies',
    ],
    binds: 'money at the provider that no row explains',
    ends: 'an operator, who finds its object in the provider’s dashboard',
    prolonged: 'operators',
    alarms: [
      'provider transaction does not match any payment',
      'unexpected payout at provider',
      'identity webhook not applied',
      'ProviderListOld',
    ],
  },
  {
    what: 'break in the books',
    tables: ['books.breaks', 'books.checkpoints', 'books.runs'],
    binds: 'an operator',
    ends: 'when a comparison no longer finds it; `ops reconcile explain` mutes it until a date',
    prolonged: 'operators',
    alarms: ['reconciliation break open', 'BooksBreakOpen', 'BooksNotReconciled'],
  },
  {
    what: 'command that waits for a second operator',
    tables: ['ops.proposals'],
    binds: 'nothing: the command is performed once it is approved',
    ends: '`ops approve`, `ops withdraw`, or a day after it was proposed',
    prolonged: 'nobody: its end is signed, and proposing it again needs new signatures',
    alarms: ['ApprovalAwaited'],
  },
  {
    what: 'limit of a day',
    tables: [
      'payments.approvals',
      'payouts.approvals',
      'chain_relayer.approvals',
      'ops.approvals',
      'payouts.account_checks',
      'chain_relayer.signed_amounts',
      'chain_relayer.signed_totals',
      'chain_relayer.reverted_gas',
    ],
    binds: 'a wallet, a bank account, a key; an operator without a second one',
    ends: 'the next day; for operators, after 24 hours',
    prolonged: 'nobody',
    alarms: ['wallet exceeded its daily gas budget'],
  },
]

/** Tables in which nothing waits, with the reason. */
export const resting: Readonly<Record<string, string>> = {
  'payments.owed_to_cashouts': 'a reading of what payouts owes, which is refused when it is old',
  'payments.inbox': 'ids of handled messages',
  'payouts.inbox': 'ids of handled messages',
  'gateway.inbox': 'ids of handled messages',
  'chain_relayer.inbox': 'ids of handled messages',
  'payments.journal': 'postings, which are never changed',
  'payouts.journal': 'postings, which are never changed',
  'chain_relayer.journal': 'postings, which are never changed',
  'books.journal': 'postings, which are never changed',
  'chain_relayer.cursor': 'how far the chain is read',
  'indexer_reader.cursors': 'how far the chain is read',
  'indexer_reader.events': 'events of the chain',
  'gateway.reminders': 'reminders that were sent',
  'gateway.users': 'country of residence',
  'gateway.accepted_terms': 'versions of the terms that were accepted',
  'books.balances': 'copies of balances at a block',
  'books.totals': 'copies of balances at a block',
  'books.chain_moves': 'copies of transfers',
  'books.provider_moves': 'copies of the provider’s list',
  'books.names': 'names of accounts',
  'books.seals': 'hashes of the journals',
  'ops.commands': 'commands of operators',
  'ops.outcomes': 'outcomes of commands',
  'books.heartbeats': 'the last heartbeat of each store, whose age is an alert',
}
