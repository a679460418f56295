import { balanceReadingMaxMs } from '../../../../services/payouts/config'
import type { Alerts } from '../alert'

export const cashouts = {
  ProviderBalanceLow: {
    severity: 'page',
    means: 'At 0, cash-outs get 503.',
    steps: 'Fund the Indonesian account.',
    command: 'ops status',
    ends: 'more than `BALANCE_LOW_IDR` is uncommitted',
    access: ['ops', 'funds'],
    inStatus: true,
    log: ['provider low on rupiah'],
    rule: {
      summary: 'Uncommitted provider balance is low',
      expr: 'max(ausd_provider_low) > 0',
      for: '2m',
      fires: { ausd_provider_low: '1' },
      quiet: { ausd_provider_low: '0' },
    },
  },
  ProviderBalanceUnreadable: {
    severity: 'page',
    means: 'The provider is down, or the key lacks *Balance Read*.',
    steps: 'Check *Balance Read* and the IP allow-list in its dashboard; until then, cash-outs are refused.',
    command: 'dc logs --tail 50 payouts',
    ends: 'the balance is read',
    access: ['host', 'provider'],
    inStatus: true,
    log: ['provider balance unreadable, cash-outs refused'],
    rule: {
      summary: 'Provider balance not read for {{ $value | humanizeDuration }}',
      expr: `min(ausd_provider_reading_age_seconds) > ${balanceReadingMaxMs / 1_000}`,
      for: '1m',
      fires: { ausd_provider_reading_age_seconds: '400' },
      quiet: { ausd_provider_reading_age_seconds: '20' },
    },
  },
  PayoutNeedsReview: {
    severity: 'page',
    steps:
      'Compare the payout at the provider with the cash-out (`ops trace`). What follows depends on `kind`: see "a payout needs review" in [daily.md](daily.md).',
    command: 'ops trace <payout>',
    ends: 'the cash-out is paid or returned; one of a payout beside it is over once it is accounted for',
    access: ['ops', 'provider', 'host'],
    inStatus: true,
    log: ['payout needs manual review', 'unexpected payout at provider'],
  },
  CashoutMissing: {
    severity: 'page',
    steps:
      'After a restore, or the promotion of a standby that lagged, its row is missing: restore it first ([restore](restore.md)). Otherwise find the transaction with `trace`; the AUSD belongs to its sender.',
    ends: null,
    access: ['ops', 'owner'],
    log: ['AUSD taken for unknown cash-out', 'AUSD return failed permanently'],
  },
  PayoutExists: {
    severity: 'page',
    steps:
      "An old backup brought back the row as it was before its payout. If the payout failed, nothing is to be done: the AUSD is returned when the relayer reports the take again. Otherwise run `update payouts.payouts set state = 'taking', reason = null, next_check_at = now() where id = … and state in ('opening', 'expired', 'failed')`: the take is reported again, and the payout is looked up and followed, not ordered again.",
    ends: '`trace <cash-out>` shows it as `paid`, some minutes later, and `reconcile` ends with `the books balance`',
    access: ['owner', 'ops'],
    log: ['AUSD kept, as its payout exists'],
  },
} as const satisfies Alerts
