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
    rule: {
      summary: 'Provider balance not read for {{ $value | humanizeDuration }}',
      expr: 'min(ausd_provider_reading_age_seconds) > 300',
      for: '1m',
      fires: { ausd_provider_reading_age_seconds: '400' },
      quiet: { ausd_provider_reading_age_seconds: '20' },
    },
  },
} as const satisfies Alerts
