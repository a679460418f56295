import { always, dropped, followed, instead, never, type Operator, preceded, without } from './operators'

/**
 * Operators of the guards that are not simply left out, by the words of their marks: one for every mark, or one for each
 * in the order of files and lines.
 */
export const mutations: Readonly<Record<string, Operator | readonly Operator[]>> = {
  // infra/contracts
  'a ref is applied once': instead('applied == 0', 'applied == 0 || applied == content'),
  'the time of payment belongs to the content of a ref': instead('paidAt', 'paidAt * 0'),
  'a repayment with held money frees no credit': instead('encumbered', 'encumbered * 0'),
  'a repayment with held money frees no collateral': instead(
    '_requireWithinLimit(line, _takeCollateral(msg.sender, amount, to)',
    '_takeCollateral(msg.sender, amount, to',
  ),
  'held collateral counts only after its hold': instead('timestamp', 'timestamp + 1 days'),
  'held AUSD is not lent': [
    instead('repaid', 'repaid + _heldLiquidity.survey().heldRepaid'),
    instead('_heldLiquidity.survey().repaid', '(_heldLiquidity.survey().repaid + _heldLiquidity.survey().heldRepaid)'),
  ],
  'a freed bucket is folded once': instead('CreditLineTypes.Bucket(bucket.until, 0, 0, 0)', 'bucket'),
  'a default seizes no held collateral': [instead('timestamp', 'timestamp + 100 days'), dropped],
  'a revocation returns the excess before any debt is owed again': instead(
    'collateral ? amount : collateral',
    'payment.repaid ? 0 : amount - payment.repaid',
  ),
  'a share is never worth more than a unit by yield': instead('dear', 'dear && amount == 0'),
  'a revoked payment returns its amount and not the value of its shares': instead(
    'amount',
    '_ausdOfSharesFloor(shares)',
  ),
  'a cycle loses its score once': always,
  'a mark of a cycle ends with it': instead('reversed, line.heldUntil) = (0, false', 'heldUntil) = (0'),
  'a cycle needs the least time': instead('tooSoon', '(tooSoon && line.drawn > 0)'),
  'restored debt makes no cycle long enough': instead('startedAt', 'openedAt'),
  'a cycle needs the least debt-time': instead('_minDebt *', '0 *'),
  'a cycle needs all of the least debt-time': instead('_minCycleSeconds', '_minCycleSeconds / 2'),
  'a new cycle begins without debt-time': instead('line.debtSeconds', 'line.paidAt'),
  'a new cycle begins without a time of payment': instead('line.paidAt', 'line.debtSeconds'),
  'a new cycle counts from its opening': instead('line.countedAt', 'line.startedAt'),
  'a late cycle costs ratio': without('RATIO_PENALTY_BPS'),
  'the latest payment decides whether a cycle is late': always,
  'restored debt keeps its due date in a new cycle': instead('dueAt', 'dueAt + _termSeconds'),
  'a default waits until every payment made in the grace can have been recorded': instead(
    '_defaultsAt(line) + RECORDING_MAX',
    '_defaultsAt(line)',
  ),
  'restored debt has a day of grace': instead('own > usual ? own : usual', 'own > usual ? usual : usual'),
  'a restoration delays no default beyond the last possible revocation': instead(
    'restored < last ? restored : last',
    'restored < last ? restored : restored',
  ),
  'an extension that ends earlier moves no ratio reward': without('until'),
  'a default ends the ratio rewards': without('line.defaulted'),
  // infra/migrations
  'a posting sums to 0 in every asset': instead('unbalanced is not null', 'false'),
  'a posting is reversed by its exact negation': instead('one.reverses is not null', 'false'),
  'a line of a journal is never changed by its service': instead('update, delete,', ''),
  'a service deletes no row': instead('update on', 'update, delete on'),
  'a service writes no row of another service': preceded(
    `grant usage on schema \${role} to public; grant insert on all tables in schema \${role} to public;`,
  ),
  // infra/nats
  'only payments orders a credit': always,
  // infra/operations
  'an explanation mutes no larger difference than the one explained': instead(
    '(exceededMs === null || exceededMs < graceMs)',
    'true',
  ),
  'a cash-out whose AUSD went back since the backup is not paid after a restore': instead('state not in', 'state in'),
  'a cash-out that was held since the backup is not paid after a restore': instead(
    'not held_by_operator',
    'held_by_operator',
  ),
  // services/chain-relayer
  'a cause has one operation': instead('cause}', `cause}:\${crypto.randomUUID()}`),
  'a take that shares its transfer with another never counts as late': without('failed.authorizationNonce'),
  'an examined operation is ended only if it is still waiting': instead("'waiting'", "'waiting', 'assigned'"),
  'an operation is given up only if it is still waiting': without("['waiting']"),
  'AUSD returned to its sender does not also pay a cash-out': [never, never],
  'an erasure waits for an order of its wallet that is being stored': instead('lockWallet', 'async () => {}'),
  'a return has one nonce, so that the token refuses a second': instead(
    'payoutId}',
    `payoutId}:\${crypto.randomUUID()}`,
  ),
  'an order about a hold waits until its credit is on the chain': instead("'revoke'", "'nothing'"),
  'a new holder of a lane has a new epoch': instead('1 end', '0 end'),
  'a held lane is not leased to another instance': instead('isOver(lanes.leasedUntil, leaseMs)', 'sql`true`'),
  'while one lane is behind the chain, no lane gives out a nonce': never,
  'a lane is not opened or leased by an old block': always,
  'a fault is recorded only by the holder of its lane': instead(
    'held(lane, holder)',
    'eq(lanes.address, lane.address)',
  ),
  'a transaction is stored before it is sent': followed('await context.node.sendRaw(signed.raw, 0)'),
  'an outcome is reported once its block is final': always,
  'a receipt counts only while its block is unchanged': always,
  'the use of an authorization is matched to the transfer logged right after it': always,
  'an unverified wallet sends nothing': instead('facts.verified', 'true'),
  'a nonce of a wallet is one send': without('known.contentHash'),
  'a transfer gets a nonce only if its wallet can pay it in addition to those in flight': always,
  'a lane near its reserve accepts no new operation': without('context.settings'),
  'a key signs no more in one operation than its limit': always,
  'a transaction re-signed with a higher fee counts once': instead(
    'given.identity',
    'given.identity || gen_random_uuid()',
  ),
  'a cancelled transfer is not taken for one that was done': instead(
    "giveUp(context, operation, 'authorization_cancelled', false)",
    'void (await context.database.transaction((tx) => settle(tx, operation, null)))',
  ),
  // services/gateway
  'a webhook has the token that we gave the provider': always,
  "a webhook is stored once, under its sender's id": instead("name ?? ''", 'crypto.randomUUID()'),
  'a session is signed by the key of its wallet': without('addressOf'),
  'a session has one signature and no malleable twin': without('s > halfOrder'),
  'a cached session opens only for its own signature': instead('session', "{ ...session, signature: '0x' }"),
  'an approval is for our verification level': always,
  'only inquiries that we created name the wallets of a person': instead('await isOurs(reference, id)', 'true'),
  'a decision against a wallet takes effect at once': always,
  'a wallet gets its native coin once': [dropped, instead(', wallet', ', crypto.randomUUID()')],
  // services/payments
  'a refund or dispute that no look-up finds is looked for again, because the list may be ahead of it': instead(
    'aheadMaxMs',
    '0',
  ),
  'a decided refund or dispute that a look does not find is asked for again': instead(
    'now - report.updatedAt.getTime()',
    'now',
  ),
  'what a wallet repaid needlessly is owed back to it in the books': instead('needlesslyRepaid(reversal)', '0n'),
  'a payment takes its quote before its checkout is opened': instead('QuoteTake', 'QuoteFind'),
  'no top-up is accepted that the treasury does not cover': always,
  "a wallet's unpaid top-ups hold at most half of the free AUSD": instead('2n *', ''),
  'what exceeds a debt is held to the limits of top-ups': instead('<', '>'),
  'a debt that is not ripe is held to the limits of top-ups': instead('drawnMicro -', '0n *'),
  'AUSD owed to cash-outs is not promised to top-ups': instead('- owedMicro', ''),
  'a settlement is stored only if no other of its debt is open or in progress': instead(
    'findUnsettled(tx, wallet)',
    '[]',
  ),
  'an earlier checkout is ended at the provider before another is opened for its debt': instead(
    'await',
    "account ? 'closed' : await",
  ),
  'a quote for money that comes in is signed with the fees of its top-ups': instead(
    'topupFeesText(topupFees.get(pair) ?? noTopupFees)',
    "''",
  ),
  'a top-up keeps the fees of its quote': instead('topupFeesText(quotedTopupFees(fees))', 'null'),
  'a refund gives back its part of the fee': instead('earnedFeeFloor(payment)', 'payment.feeMinor'),
  'the fee of late money buys nothing': instead(' - feeMinor', ''),
  'money that goes back beyond a payment is owed at the rate after the fee': instead(' - feeMinor', ''),
  'late money is priced again only at a worse rate': instead('payment.lateRateMinorPerUsd ?? ', ''),
  'a top-up that an operator credits pays its fee': instead(', channel)', ", 'unknown')"),
  'a late payment is credited at no better than the current rate': instead('isLate(payment, charge)', 'false'),
  'reversible payments are held, and so are those of unknown channels': instead(
    "!== 'bank' && kind !== 'qr'",
    "=== 'card'",
  ),
  'a second payment is counted once, however often it is reported': instead('return', ';'),
  'an outcome counts only for the current ref of a payment': without('payment.refSequence'),
  'a repeated report of a revocation is not taken for that of a further one': without('leftMicro >'),
  'a check of a hold that began before a part was revoked clears nothing': without('isWhole'),
  'a hold does not end before the provider was asked': always,
  'a hold does not end while its money is known to be going back': instead("'hold' : 'extend'", "'hold' : 'hold'"),
  'a hold is checked as soon as a report puts its money in doubt': instead(' || change', ''),
  'a response counts only for the hold end it was requested for': without('refundsCheckedAt'),
  'a 404 for refunds is inconclusive until the list was read': instead('await readFreshList(context, payment)', '[]'),
  'a refund that succeeded comes back only by a final status': instead('isStale', 'sql`false`'),
  'the amount of a decision is not replaced by that of the claim before it': instead('isStale', 'sql`false`'),
  'what was given back of a repaid loss is missing again if the loss comes about': instead(
    'lostMicro',
    'madeGoodMicro',
  ),
  'a hold does not end while a refund or dispute is open': never,
  'a wallet is frozen while money that the chain cannot take back may be going back': instead("'freeze'", "'free'"),
  'a loss by refunds that we ordered twice is ours': never,
  'a refund that was given up counts like one that we did not order': always,
  'a charge in doubt freezes the wallet also while we refund it': instead(
    'owedMicro(mayGoOtherwiseMinor, orderedMinor)',
    '0n',
  ),
  'a hold is watched also before the relayer has reported the order that began it': never,
  'another instance takes over from one that was killed while it checked a hold, before the hold ends': instead(
    "kind === 'others' ? checkLeaseMs : Math.min(checkLeaseMs, holdMarginMs / 2)",
    'checkLeaseMs',
  ),
  'an amount in another currency counts as all that is left': always,
  'a hold lasts until its revocation is final': never,
  'a reversible payment covers no loss': without('held'),
  'what an operator froze is freed by an operator alone': without('frozenByOperator'),
  'a refund keeps one idempotency key': instead('idempotencyKey', 'idempotencyKey: crypto.randomUUID()'),
  'a wallet is frozen if its hold ended while its money may be going back': always,
  'a hold does not end while its refunds cannot be read': always,
  'a hold does not end before refunded money is revoked': without('reported.goneMinor'),
  // services/payouts
  'a frozen wallet cannot cash out': instead(
    'return chain',
    "Object.assign(chain, { ok: { free: '9000000000', counted: [] } })",
  ),
  'a quote that made a cash-out serves no other request': always,
  'a cash-out takes its quote before it is accepted': instead('QuoteTake', 'QuoteFind'),
  'a signed transfer pays one cash-out': [
    instead('nonce)', 'authorizer)'),
    instead('values(cashout', 'values({ ...cashout, authorizationNonce: crypto.randomUUID() }'),
  ],
  "no cash-out is accepted that the provider's balance does not cover": instead('minor', 'minor * 10n'),
  'a cash-out is accepted only within a minute after it was stored': without('!isOld'),
  'a cash-out that an operator holds is not paid': instead('not(cashouts.heldByOperator)', 'undefined'),
  'one transaction at a time decides about a cash-out': instead(".for('update')", ''),
  'a late take of a failed cash-out is given back and never paid': instead(
    "next: 'returning', reason: 'taken_late'",
    'stay: true',
  ),
  'an attempt is counted only while the cash-out may be paid': instead("before?.state !== 'paying'", '!before'),
  'an attempt is committed before the provider is called': preceded(
    'await provider.create(order, apiOf(before, provider.apis[0]))',
  ),
  'a payout keeps one idempotency key': instead('order.id', 'crypto.randomUUID()'),
  'a v3 payout keeps one idempotency key': instead('order.id', 'crypto.randomUUID()'),
  'a payout is looked up before it is ordered again': [never, always],
  'a payout is looked up under every version of the API that was used before its first order': instead(
    'context.provider.apis',
    '[context.provider.apis[0]]',
  ),
  'a payout stays with the API version of its first attempt': without('cashout.payoutApi'),
  'sealed bank details open only for their own payout': instead('payoutId', '""'),
  'AUSD that arrives late is returned only after its payout was looked for': instead(
    'findBeforeReturn(context, cause)',
    '[]',
  ),
  'a listed payout is asked about until the books agree with its row': instead('leftMinor ===', 'leftMinor <='),
  'AUSD of a cash-out whose payout may have reached the bank is not returned': never,
  'only a refusal of this very order counts': without('refusalScope'),
  'a refusal proves nothing right after an attempt of unknown outcome': always,
  'of two payouts, the one that may still reach the bank decides': never,
  'a failed payout returns nothing before its reference is looked up': always,
  'a dispute whose charge nobody has named counts for none of several': always,
  'a payout leaves suspense by the next answer that fits, also if it repeats what is known':
    without('!(await isInSuspense'),
  'a paid cash-out whose payout reads as failed is returned only if the list says so too': instead(
    'isListedAsFailed ?',
    'true ?',
  ),
  'an unknown status is no success': instead("odd: 'status_unknown'", "next: 'paid'"),
  'a webhook is a hint: its payout is fetched': instead(
    `evidence = await context.provider
        .find(hint.payoutId`,
    `{ data } = JSON.parse(body)
      const told = { payoutId: hint.payoutId, referenceId: data.reference_id, status: context.provider.statusOf(data.status), word: data.status, failureCode: null, reason: null, amountMinor: BigInt(data.amount ?? 0), currency: 'IDR' }
      const evidence = await Promise.resolve(told`,
  ),
  "a wallet's cash-outs of a day have a limit": never,
  // services/pricing
  'a quote is taken once': instead('=== 1', '< 2'),
  'a quote is taken before it expires, by the database clock': without('clock_timestamp() <'),
  'a quote is taken no earlier than it can have been issued, by the database clock': instead('>=', '<>'),
  'a rate is within its band': always,
  'a rate is not too old': without('isStale'),
  'while the market is closed, a cash-out is priced below the reference': instead('-larger', 'larger'),
  // shared/chain
  'a wallet gets no more refills than its closed cycles and two': without('given < most'),
  'the service signs only for its configured chain': instead('Number(id) !== chainId', '!id'),
  // shared/ledger
  'a posting of a step is booked only if the step was taken': instead('moved, unnest', 'unnest'),
  // shared/platform
  'a stale treasury balance covers nothing': instead('youngerThan(maxMs)', 'last'),
  'of two instances with the same message, one claims it': instead('where held.done_at is null', ''),
  'an instance waits while another handles the same message': instead(
    `insert into \${inbox} as held (consumer, message_id, done_at)
    values (\${consumer}, \${messageId}, now())
    on conflict (consumer, message_id) do update set done_at = now() where held.done_at is null
    returning 1`,
    'select 1',
  ),
  'a step that is not taken fails its transaction': instead('1 / (select', '1 + (select'),
  'a fresh message that is claimed is not handled': instead('orFail', 'withSideWrites'),
  'only the instance with the claim does the work': instead('claimed', 'true'),
  'a claim commits together with its work or not at all': instead(
    'claimDelivered(tx',
    'claimDelivered(await database.run(async (db) => db)',
  ),
  'a message is a row written by the transaction it reports': instead(
    `insert into \${outbox} (id, subject, payload, request_id, leased_until)
    select \${columns} from \${announced} on conflict do nothing returning id`,
    `select announced.id, 0 as "none", \${columns} from \${announced}`,
  ),
  'a message is noted as sent after the broker confirmed it': preceded('sent.mark(message.id)'),
  'an order of a step is sent only if the step was taken': instead('moved, ', ''),
  'a wallet with a claim is not erased': instead('await claimsOn(wallet)', '[]'),
}
