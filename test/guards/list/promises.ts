import { edit, type Guard, withoutIndex } from '../guard'

const payments = (path: string) => `services/payments/${path}`
const payouts = (path: string) => `services/payouts/${path}`

const topups: readonly Guard[] = [
  {
    guard: 'a quote that made a payment serves no other request',
    kind: 'quote',
    edits: [
      edit(
        payments('checkout/open.ts'),
        "if (payment.requestFingerprint !== requestFingerprint) return refuse('quote_used')",
        '',
      ),
    ],
    test: { file: payments('checkout/open.test.ts'), name: 'security: is refused with %s' },
  },
  {
    guard: 'a payment takes its quote before its checkout is opened',
    kind: 'quote',
    edits: [
      edit(
        payments('checkout/open.ts'),
        "askOr(context, QuoteTake, { quoteId, requestFingerprint }, 'rate_unavailable')",
        "askOr(context, QuoteFind, { quoteId, requestFingerprint }, 'rate_unavailable')",
      ),
    ],
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'a %s takes its quote, which no cash-out can take',
    },
  },
  {
    guard: 'one instance at a time opens the checkout of a payment',
    kind: 'guarded update',
    edits: [
      edit(
        payments('payment.store.ts'),
        `or(isNull(payments.openingUntil), sql\`\${payments.openingUntil} < now()\`),`,
        '',
      ),
    ],
    test: {
      file: payments('payment.store.test.ts'),
      name: 'is opened by one instance at a time, and by another after that one dies',
    },
  },
  {
    guard: 'an unverified user opens no top-up',
    kind: 'rights',
    edits: [
      edit(
        payments('checkout/topup.ts'),
        "if (!account.ok.verified) return refuse('not_verified')",
        '',
      ),
    ],
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'of %s is refused with %s, writes nothing and leaves the quote',
    },
  },
  {
    guard: 'a frozen wallet cannot pay by card',
    kind: 'rights',
    edits: [
      edit(
        payments('checkout/topup.ts'),
        "if (method === 'card' && (await isFrozen(context, account.ok)))",
        'if (0)',
      ),
    ],
    test: {
      file: payments('losses/reversal.test.ts'),
      name: 'is refused cards only, and its quote stays unused',
    },
  },
  {
    guard: 'top-ups are promised one at a time across all instances',
    kind: 'lock',
    edits: [edit(payments('treasury/reserve.ts'), "await lockNamed(tx, 'cover of top-ups')", '')],
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'open ten of forty if the treasury covers ten',
    },
  },
  {
    guard: 'no top-up is accepted that the treasury does not cover',
    kind: 'cover',
    edits: [
      edit(
        payments('treasury/reserve.ts'),
        "maySetAside(await lockFree(tx, treasury), wanted) ? ok({}) : refuse('treasury_short')",
        'ok({})',
      ),
    ],
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'is refused, and its quote is usable as soon as the treasury is funded',
    },
  },
  {
    guard: "a wallet's unpaid top-ups hold at most half of the free AUSD",
    kind: 'cover',
    edits: [
      edit(
        payments('treasury/cover.ts'),
        '2n * (openMicro + ausdMicro) <= free + openMicro',
        'ausdMicro <= free',
      ),
    ],
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'of one wallet reserve at most half of the otherwise free AUSD',
    },
  },
  {
    guard: 'what exceeds a debt is held to the limits of top-ups',
    kind: 'cover',
    edits: [edit(payments('treasury/excess.ts'), 'if (moreMicro <= 0n)', 'if (moreMicro >= 0n)')],
    test: {
      file: payments('treasury/excess.test.ts'),
      name: 'several times in a row is stopped by the daily limit',
    },
  },
  {
    guard: 'a debt that is not ripe is held to the limits of top-ups',
    kind: 'cover',
    edits: [edit(payments('checkout/settlement.ts'), 'drawnMicro - ripeMicro', '0n * ripeMicro')],
    test: {
      file: payments('treasury/excess.test.ts'),
      name: 'counts for the rest of the day after its settlement',
    },
  },
  {
    guard: 'AUSD owed to cash-outs is not promised to top-ups',
    kind: 'cover',
    edits: [edit(payments('treasury/cover.ts'), 'balanceMicro - owedMicro', 'balanceMicro')],
    test: { file: payments('treasury/reserve.test.ts'), name: 'that may be returned is not free' },
  },
  {
    guard: 'a stale treasury balance covers nothing',
    kind: 'cover',
    edits: [
      edit(payments('treasury/treasury.ts'), 'return youngerThan(readingMaxMs)', 'return last'),
    ],
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'is used by its last reading for a while; then no top-up is opened, and a debt stays payable',
    },
  },
  {
    guard: "a wallet's top-ups are counted under its lock",
    kind: 'lock',
    edits: [edit(payments('checkout/topup.ts'), 'await lockWallet(tx, wallet)', 'void lockWallet')],
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'hold for %s with twenty concurrent top-ups, and the others leave their quotes unused',
    },
  },
  {
    guard: 'a settlement is stored only if no other of its debt is open or in progress',
    kind: 'lock',
    edits: [
      edit(
        payments('checkout/replace.ts'),
        'const unsettled = await findUnsettled(tx, wallet)\n  if',
        'const unsettled: PaymentRow[] = []\n  if',
      ),
    ],
    also: [withoutIndex('payments.payments_open_settlement')],
    test: {
      file: payments('checkout/replace.test.ts'),
      name: 'requested ten times concurrently leaves one open checkout, here and at the provider',
    },
  },
  {
    guard: 'an earlier checkout is ended at the provider before another is opened for its debt',
    kind: 'decision',
    edits: [
      edit(
        payments('checkout/end.ts'),
        'const outcome = await context.provider.cancelCheckout(account, checkoutId!)',
        "const outcome = account ? 'closed' : await context.provider.cancelCheckout(account, checkoutId!)",
      ),
    ],
    test: {
      file: payments('checkout/replace.test.ts'),
      name: 'ends the first at the provider, and the first request still gets its first response',
    },
  },
]

const cashouts: readonly Guard[] = [
  {
    guard: 'a cash-out is a transfer to the treasury',
    kind: 'authorization',
    edits: [
      edit(
        payouts('request/open.ts'),
        "if (authorization.to !== known.treasury) return 'to_not_treasury'",
        '',
      ),
    ],
    test: { file: payouts('request/open.test.ts'), name: '%p: %s' },
  },
  {
    guard: 'a cash-out is requested by the signer of its transfer',
    kind: 'authorization',
    edits: [
      edit(
        payouts('request/open.ts'),
        "if (authorization.from !== wallet) return 'wallet_not_from'",
        '',
      ),
    ],
    test: { file: payouts('request/open.test.ts'), name: '%p: %s' },
  },
  {
    guard: 'a signed transfer that the chain would refuse is refused',
    kind: 'authorization',
    edits: [
      edit(
        payouts('request/open.ts'),
        "if ('refused' in chain && !ofWallet.has(chain.refused)) return chain",
        '',
      ),
    ],
    also: [
      edit(payouts('request/open.ts'), "if ('refused' in chain) return chain\n  const", 'const'),
      edit(
        payouts('request/open.ts'),
        'holding: chain.ok }',
        "holding: 'ok' in chain ? chain.ok : { free: '9000000000', counted: [] } }",
      ),
    ],
    test: { file: payouts('request/open.test.ts'), name: "and for the chain's refusal %s" },
  },
  {
    guard: 'a frozen wallet cannot cash out',
    kind: 'rights',
    edits: [
      edit(payouts('request/open.ts'), "if ('refused' in chain) return chain\n  const", 'const'),
      edit(
        payouts('request/open.ts'),
        'holding: chain.ok }',
        "holding: 'ok' in chain ? chain.ok : { free: '9000000000', counted: [] } }",
      ),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: '%i %s, after all faults with 400; the quote stays unused',
    },
  },
  {
    guard: 'a quote that made a cash-out serves no other request',
    kind: 'quote',
    edits: [
      edit(
        payouts('request/open.ts'),
        `same.requestFingerprint === requestFingerprint
      ? resume(context, same)
      : refuse('quote_used')`,
        'resume(context, same)',
      ),
    ],
    test: { file: payouts('request/open.test.ts'), name: 'keeps its quote from %s' },
  },
  {
    guard: 'a cash-out takes its quote before it is accepted',
    kind: 'quote',
    edits: [
      edit(
        payouts('request/open.ts'),
        'askOr(ask, QuoteTake, asked',
        'askOr(ask, QuoteFind, asked',
      ),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'an accepted cash-out takes its quote, which no top-up can take',
    },
  },
  {
    guard: 'a signed transfer pays one cash-out',
    kind: 'authorization',
    edits: [
      edit(
        payouts('cashout.store.ts'),
        `        and(
          eq(cashouts.authorizer, authorizer as \`0x\${string}\`),
          eq(cashouts.authorizationNonce, nonce),
          not(isExpired(cashouts)),
        ),
`,
        `        sql\`\${authorizer}::text = \${nonce}::text\`,\n`,
      ),
      edit(
        payouts('cashout.store.ts'),
        'const made = await tx.insert(cashouts).values(cashout).onConflictDoNothing().returning()',
        'const made = await tx.insert(cashouts).values({ ...cashout, authorizationNonce: crypto.randomUUID() }).onConflictDoNothing().returning()',
      ),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'keeps its authorization from a second quote, which stays unused',
    },
  },
  {
    guard: "a wallet's cash-outs of a day are counted under its lock",
    kind: 'lock',
    edits: [
      edit(payouts('request/open.ts'), 'await lockWallet(tx, asked.wallet)', 'void lockWallet'),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'security: of ten concurrent cash-outs, with a limit of two a day, two are accepted',
    },
  },
  {
    guard: "a bank account's cash-outs of a day are counted over all wallets",
    kind: 'cover',
    edits: [
      edit(payouts('request/open.ts'), 'if (today.micro + ausdMicro > dayMicroMax)', 'if (0)'),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'with four concurrent wallets: two are paid to one account, and others to another',
    },
  },
  {
    guard: 'one balance serves one cash-out',
    kind: 'cover',
    edits: [
      edit(payouts('request/open.ts'), 'if (takingMicro + ausdMicro > BigInt(free))', 'if (0)'),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'serves one of twenty concurrent cash-outs',
    },
  },
  {
    guard: 'rupiah are promised one at a time across all instances',
    kind: 'lock',
    edits: [edit(payouts('treasury/reserve.ts'), "await lockNamed(tx, 'cover of cash-outs')", '')],
    test: {
      file: payouts('treasury/cover.test.ts'),
      name: 'security: a cash-out is not weighed while another is being stored',
    },
  },
  {
    guard: "no cash-out is accepted that the provider's balance does not cover",
    kind: 'cover',
    edits: [edit(payouts('treasury/reserve.ts'), '<= balance.minor', '<= balance.minor * 10n')],
    test: {
      file: payouts('treasury/cover.test.ts'),
      name: 'is refused, and its quote is usable once the balance covers it',
    },
  },
  {
    guard: 'a cash-out is accepted only within a minute after it was stored',
    kind: 'quote',
    edits: [
      edit(
        payouts('request/open.ts'),
        "if (row.state === 'opening' && !isOld)",
        "if (row.state === 'opening')",
      ),
    ],
    test: {
      file: payouts('request/opening.test.ts'),
      name: 'is refused after a minute, whether or not it has ended yet',
    },
  },
]

export const promiseGuards: readonly Guard[] = [...topups, ...cashouts]
