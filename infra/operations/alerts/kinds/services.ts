import type { Alerts } from '../alert'

/** Difference in ms between the clocks of Postgres and of the machine of an operator; a quote lives for a minute. */
export const clockApartMaxMs = 30_000

export const services = {
  ServiceDown: {
    severity: 'page',
    means: 'Every instance is down or hung.',
    steps: 'Its log has the reason (`dc logs <service>`). Restart it if it hangs: `dc restart <service>`.',
    command: 'bus micro ping',
    ends: 'an instance responds',
    access: ['host'],
    inStatus: true,
    rule: {
      summary: 'No instance of {{ $labels.service }} responds',
      expr: 'ausd_service_up == 0',
      for: '1m',
      fires: { 'ausd_service_up{service="payments"}': '0' },
      quiet: { 'ausd_service_up{service="payments"}': '1' },
    },
  },
  InstanceDown: {
    severity: 'ticket',
    means: 'Another instance of the service responds.',
    steps: 'Restart the instance that hangs or is gone; `dc logs <service>` has the reason.',
    command: 'bus micro ping',
    ends: 'it responds, or was shut down in order',
    access: ['host'],
    inStatus: true,
  },
  ServicesUnreachable: {
    severity: 'page',
    means: 'NATS is unreachable from the gateway.',
    steps:
      'If `bus rtt` responds, restart the gateway. If it names the certificate, as `reason` of `nats still unavailable` does in the log of each service, renew it and restart nats-server. Otherwise `dc logs --tail 50 nats`, then `dc up -d nats`.',
    command: 'bus rtt',
    ends: 'the gateway reaches the other services',
    access: ['host'],
    inStatus: true,
    rule: {
      summary: 'The gateway cannot reach the other services',
      expr: 'ausd_services_asked == 0',
      for: '1m',
      fires: { ausd_services_asked: '0' },
      quiet: { ausd_services_asked: '1' },
    },
  },
  GatewayNotScraped: {
    severity: 'page',
    means: 'No gateway responds on `OPS_PORT`, or Prometheus cannot reach it.',
    steps: 'If it responds here, correct the target or the network of Prometheus; otherwise `dc up -d gateway`.',
    command: 'look health',
    ends: 'Prometheus reads metrics of a gateway',
    access: ['host'],
    rule: {
      summary: 'No gateway metrics: the system is unmonitored',
      expr: 'absent(ausd_services_asked)',
      for: '2m',
      fires: {},
      quiet: { ausd_services_asked: '1' },
    },
  },
  MetricsMissing: {
    severity: 'ticket',
    means: 'Its Postgres is slow or down; alerts on its data cannot fire.',
    steps: 'Look for locks, a full disk and too few connections.',
    command: 'dc logs --tail 50 postgres',
    ends: 'the service reads its metrics again',
    access: ['host'],
    inStatus: true,
    rule: {
      summary: '{{ $labels.service }} cannot read its metrics',
      expr: 'ausd_figures_up == 0',
      for: '2m',
      fires: { 'ausd_figures_up{service="payments"}': '0' },
      quiet: { 'ausd_figures_up{service="payments"}': '1' },
    },
  },
  LogNotWritten: {
    severity: 'page',
    means:
      'Its output takes no log line, as on a full disk. The work goes on, but alerts that only a log line raises do not arrive.',
    steps:
      'Free space on the disk of the logs (`df -h` on the host). Up to a megabyte of lines of each process waits and is written then; later ones are lost. So look at what `ops status` and the books say since then.',
    command: 'ops status',
    ends: 'log lines are written again',
    access: ['host', 'ops'],
    rule: {
      summary: '{{ $labels.service }} cannot write its log',
      expr: 'increase(ausd_log_writes_failed_total[2m]) > 0',
      for: '1m',
      fires: { 'ausd_log_writes_failed_total{service="payments"}': '0+10' },
      quiet: { 'ausd_log_writes_failed_total{service="payments"}': '10' },
    },
  },
  RequestsFail: {
    severity: 'page',
    means: 'Users get internal errors; 503 means a dependency is down.',
    steps: 'The log names the failing part, and `ops status` each dependency that is down.',
    command: 'dc logs --since 10m gateway',
    ends: 'fewer than 5 % of the requests fail',
    access: ['host', 'ops'],
    rule: {
      summary: '{{ $value | humanizePercentage }} of requests fail with 5xx',
      expr: 'sum(rate(ausd_http_request_duration_seconds_count{status=~"5.."}[2m])) / sum(rate(ausd_http_request_duration_seconds_count[2m])) > 0.05',
      for: '3m',
      fires: {
        'ausd_http_request_duration_seconds_count{status="503"}': '0+10',
        'ausd_http_request_duration_seconds_count{status="200"}': '0+90',
      },
      quiet: {
        'ausd_http_request_duration_seconds_count{status="503"}': '0+1',
        'ausd_http_request_duration_seconds_count{status="200"}': '0+90',
      },
    },
  },
  RequestsSlow: {
    severity: 'ticket',
    means: 'A dependency is slow; the dashboard shows which one.',
    steps: 'With `TRACES_URL`, the trace of a slow request shows the part that takes the time.',
    command: 'look metrics',
    ends: 'the slowest hundredth of its requests takes less than 2 s',
    access: ['host'],
    rule: {
      summary: '{{ $labels.route }} takes {{ $value | humanizeDuration }} (p99)',
      expr: 'histogram_quantile(0.99, sum by (le, route) (rate(ausd_http_request_duration_seconds_bucket[5m]))) > 2',
      for: '10m',
      fires: {
        'ausd_http_request_duration_seconds_bucket{route="/me",le="2.5"}': '0+1',
        'ausd_http_request_duration_seconds_bucket{route="/me",le="5"}': '0+10',
        'ausd_http_request_duration_seconds_bucket{route="/me",le="+Inf"}': '0+10',
      },
      quiet: {
        'ausd_http_request_duration_seconds_bucket{route="/me",le="0.1"}': '0+10',
        'ausd_http_request_duration_seconds_bucket{route="/me",le="+Inf"}': '0+10',
      },
    },
  },
  RequestsUnanswered: {
    severity: 'page',
    means: 'Its owner is down, hung or failing; callers get 503.',
    steps: 'Read the log of the owner, and restart it if it hangs.',
    command: 'bus micro ping',
    ends: 'its owner responds',
    access: ['host'],
    rule: {
      summary: '{{ $labels.question }} gets no response',
      expr: 'sum by (question) (rate(ausd_question_duration_seconds_count{outcome=~"unavailable|overdue|failed"}[2m])) > 0.05',
      for: '3m',
      fires: { 'ausd_question_duration_seconds_count{question="q",outcome="overdue"}': '0+10' },
      quiet: { 'ausd_question_duration_seconds_count{question="q",outcome="answered"}': '0+10' },
    },
  },
  DatabaseSlow: {
    severity: 'ticket',
    means: 'Locks, a full disk, a silent standby, or too few connections.',
    steps: 'The statement shows which sessions wait, and for what.',
    command: 'dc exec postgres psql -U postgres -c "select * from pg_stat_activity where wait_event is not null"',
    ends: 'the slowest hundredth of its calls takes less than 1 s',
    access: ['host'],
    rule: {
      summary: 'Postgres calls by {{ $labels.service }} take {{ $value | humanizeDuration }} (p99)',
      expr: 'histogram_quantile(0.99, sum by (le, service) (rate(ausd_database_call_duration_seconds_bucket[5m]))) > 1',
      for: '10m',
      fires: {
        'ausd_database_call_duration_seconds_bucket{service="payments",le="1"}': '0+1',
        'ausd_database_call_duration_seconds_bucket{service="payments",le="2.5"}': '0+10',
        'ausd_database_call_duration_seconds_bucket{service="payments",le="+Inf"}': '0+10',
      },
      quiet: {
        'ausd_database_call_duration_seconds_bucket{service="payments",le="0.1"}': '0+10',
        'ausd_database_call_duration_seconds_bucket{service="payments",le="+Inf"}': '0+10',
      },
    },
  },
  DatabaseClockSet: {
    severity: 'page',
    means:
      'The clock of Postgres moved by `aheadMs` against a process, or differs from the clock of the machine that runs `ops status`.',
    steps:
      'Correct the wrong clock (NTP), or do nothing if both are right now: `select now()`. Breaks, alerts and refusals (expired quotes) since the first such line may be due to it, also those that accuse a key: act on none of them until `reconcile --whole` has run with the right clock, as `operations` does by itself in its next round. Checkpoints, leases and checks of the time ahead are taken as unknown and done again. If every process logs it but the clock of Postgres was right, the machines stood still.',
    ends: 'the clocks agree again',
    access: ['host', 'ops'],
    inStatus: true,
    log: ['clock of Postgres was set'],
  },
  PruningFails: {
    severity: 'ticket',
    steps: 'See `err`; tables grow until it is fixed.',
    ends: 'a round removes the old rows again',
    access: ['host'],
    log: ['pruning failed'],
  },
  Paused: {
    severity: 'ticket',
    means: 'An operator paused top-ups, payouts or relaying.',
    steps: 'End the pause once its reason is gone.',
    command: 'ops resume <what>',
    ends: 'an operator resumes it',
    access: ['ops'],
    inStatus: true,
  },
} as const satisfies Alerts
