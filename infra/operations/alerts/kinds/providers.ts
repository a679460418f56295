import type { Alerts } from '../alert'

export const providers = {
  ProviderOutcomesUnknown: {
    severity: 'ticket',
    means: 'The provider is slow or down.',
    steps: 'Look at its status page; unknown calls are repeated under the same idempotency key, or looked up.',
    command: 'dc logs --since 10m payments',
    ends: 'fewer than 20 % of the calls have no known outcome',
    access: ['host'],
    rule: {
      summary: 'Calls to {{ $labels.endpoint }} of the provider have unknown outcomes',
      expr: 'sum by (endpoint) (rate(ausd_provider_call_duration_seconds_count{outcome="unknown"}[5m])) / sum by (endpoint) (rate(ausd_provider_call_duration_seconds_count[5m])) > 0.2',
      for: '5m',
      fires: {
        'ausd_provider_call_duration_seconds_count{endpoint="e",outcome="unknown"}': '0+3',
        'ausd_provider_call_duration_seconds_count{endpoint="e",outcome="ok"}': '0+7',
      },
      quiet: {
        'ausd_provider_call_duration_seconds_count{endpoint="e",outcome="unknown"}': '0+1',
        'ausd_provider_call_duration_seconds_count{endpoint="e",outcome="ok"}': '0+9',
      },
    },
  },
  ProviderListOld: {
    severity: 'ticket',
    means: 'Lost refund webhooks go unnoticed.',
    steps: 'Check *Transaction Read*.',
    command: 'dc logs --tail 50 payments',
    ends: 'the list is read',
    access: ['host', 'provider'],
    inStatus: true,
    rule: {
      summary: 'Provider list not read for {{ $value | humanizeDuration }}',
      expr: 'min(ausd_provider_list_age_seconds{list="latest"}) > 300',
      for: '5m',
      fires: { 'ausd_provider_list_age_seconds{list="latest"}': '400' },
      quiet: { 'ausd_provider_list_age_seconds{list="latest"}': '20' },
    },
  },
  RateUnusable: {
    severity: 'page',
    means: 'The sources are down, out of date, or disagree; quotes get 503.',
    steps: 'See "quotes get 503" in [daily.md](daily.md).',
    command: 'bus micro stats pricing --json',
    ends: 'the sources agree on a recent rate, or an operator releases a jump',
    access: ['host'],
    inStatus: true,
    rule: {
      summary: 'No usable rate for {{ $labels.pair }}',
      expr: 'max by (pair) (ausd_rate_usable) == 0',
      for: '2m',
      fires: { 'ausd_rate_usable{pair="USD/IDR"}': '0' },
      quiet: { 'ausd_rate_usable{pair="USD/IDR"}': '1' },
    },
  },
  RateDoubtful: {
    severity: 'ticket',
    means: 'A source is down or the sources differ: quotes have a wider spread, and cash-outs in rupiah are refused.',
    steps: '`dc logs pricing` names the source.',
    command: 'bus micro stats pricing --json',
    ends: 'the sources agree',
    access: ['host'],
    rule: {
      summary: 'Rate of {{ $labels.pair }} in doubt',
      expr: 'max by (pair) (ausd_rate_doubtful) == 1',
      for: '1h',
      fires: { 'ausd_rate_doubtful{pair="USD/IDR"}': '1' },
      quiet: { 'ausd_rate_doubtful{pair="USD/IDR"}': '0' },
    },
  },
} as const satisfies Alerts
