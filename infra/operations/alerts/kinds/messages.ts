import { streamAlarmPercent } from '../../../../services/gateway/config'
import type { Alerts } from '../alert'

/** Age in ms from which an unpublished message shows that publishing fails. */
export const outboxMaxMs = 60_000
/** Age in ms beyond which a heartbeat is missed. Three attempts have failed by then. */
export const heartbeatMaxMs = 45_000

export const messages = {
  OutboxStuck: {
    severity: 'page',
    means: 'JetStream is down, or a stream is full or was on a full disk.',
    steps: '`ops status` names the stream that takes no message; see `HeartbeatMissed`.',
    command: 'ops in-flight',
    ends: 'the messages are published, which happens automatically',
    access: ['ops', 'host'],
    inStatus: true,
    rule: {
      summary: 'Messages of {{ $labels.service }} unsent for {{ $value | humanizeDuration }}',
      expr: `max by (service) (ausd_outbox_oldest_age_seconds) > ${outboxMaxMs / 1_000}`,
      for: '1m',
      fires: { 'ausd_outbox_oldest_age_seconds{service="payments"}': '90' },
      quiet: { 'ausd_outbox_oldest_age_seconds{service="payments"}': '3' },
    },
  },
  HeartbeatMissed: {
    severity: 'page',
    means:
      'Postgres refuses writes, or a stream messages, although they respond. A row (`postgres`) and a message of each stream are written every 15 s; `through` names the one that is missed, and `says` has the error.',
    steps:
      '`postgres`: `dc logs --tail 50 postgres`. If its disk is full, free space (`df -h` on the host), and it recovers. If it is read-only, its disk was full, or the URL leads to a standby: end that mode, or correct the URL. A stream that times out: `dc logs --tail 50 nats`. If the disk of NATS is full, or was, free space, then `dc restart nats`, because nats-server takes no message of such a stream until it is restarted, also when there is space again. A stream with another error: `bus stream report`; if it is full, see "stream nearly full" in [daily.md](daily.md). Nothing is lost: the outboxes publish what waits.',
    command: 'ops status',
    ends: 'a row or message is stored again',
    access: ['ops', 'host'],
    inStatus: true,
    log: ['heartbeat missed'],
    rule: {
      summary: '{{ $labels.through }} has stored nothing for {{ $value | humanizeDuration }}',
      expr: `min by (through) (ausd_heartbeat_age_seconds) > ${heartbeatMaxMs / 1_000}`,
      for: '1m',
      fires: { 'ausd_heartbeat_age_seconds{through="EVENTS"}': '90' },
      quiet: { 'ausd_heartbeat_age_seconds{through="EVENTS"}': '16' },
    },
  },
  DeadLetters: {
    severity: 'page',
    means: 'Each failed 40 times or was malformed.',
    steps: 'See "dead letters" in [daily.md](daily.md).',
    command: 'ops dead-letters list',
    ends: 'each is redriven or dismissed',
    access: ['ops'],
    inStatus: true,
    log: ['message dead-lettered', 'redrive failed, message dead-lettered again'],
    rule: {
      summary: '{{ $labels.service }} dead-lettered {{ $value }} messages',
      expr: 'max by (service) (ausd_dead_letters) > 0',
      for: '1m',
      fires: { 'ausd_dead_letters{service="payments"}': '1' },
      quiet: { 'ausd_dead_letters{service="payments"}': '0' },
    },
  },
  MessagesFail: {
    severity: 'ticket',
    means: 'A dependency is down; dead letters follow after half an hour.',
    steps: 'The log of the service has the error of each attempt.',
    command: 'bus consumer report EVENTS',
    ends: 'its messages are handled, which is retried automatically',
    access: ['host'],
    rule: {
      summary: '{{ $labels.service }} keeps failing messages of {{ $labels.topic }}',
      expr: 'sum by (service, topic) (rate(ausd_message_duration_seconds_count{outcome="retried"}[5m])) > 0.1',
      for: '10m',
      fires: { 'ausd_message_duration_seconds_count{service="payments",topic="t",outcome="retried"}': '0+10' },
      quiet: { 'ausd_message_duration_seconds_count{service="payments",topic="t",outcome="done"}': '0+10' },
    },
  },
  EventsNotTaken: {
    severity: 'ticket',
    means:
      "The integrator's server is down, or refuses what it gets; or the gateway cannot sign in to NATS as `integrator`.",
    steps:
      'If the events are not read, compare `NATS_PASSWORD_INTEGRATOR` with the one of nats-server. Otherwise `why` in the log is its answer: 401 means that it does not know the secret. Tell the integrator. Each event is repeated for three days, at last hourly; one that is given up is named by the log, and `ops events resend <sequence>` sends it for as long as it is stored.',
    command: 'dc logs --since 2h gateway',
    ends: 'it takes an event',
    access: ['host', 'ops'],
    log: ['event not delivered, given up', 'no events read for the integrator'],
    rule: {
      summary: 'The integrator has taken no event for two hours, and refused {{ $value }} calls',
      expr: 'sum(increase(ausd_event_push_duration_seconds_count{outcome="refused"}[120m])) > 0 and sum(increase(ausd_event_push_duration_seconds_count{outcome="taken"}[120m])) == 0',
      for: '5m',
      fires: {
        'ausd_event_push_duration_seconds_count{outcome="refused"}': '0+1',
        'ausd_event_push_duration_seconds_count{outcome="taken"}': '7',
      },
      quiet: {
        'ausd_event_push_duration_seconds_count{outcome="refused"}': '0+1',
        'ausd_event_push_duration_seconds_count{outcome="taken"}': '0+1',
      },
    },
  },
  StreamNearlyFull: {
    severity: 'page',
    means: 'A full stream refuses new messages.',
    steps: 'See "stream nearly full" in [daily.md](daily.md).',
    command: 'bus stream report',
    ends: 'it is less than 70 % full: messages expire, or `max_bytes` is raised',
    access: ['host', 'code'],
    log: ['stream nearly full'],
    rule: {
      summary: 'The stream {{ $labels.stream }} is {{ $value | humanizePercentage }} full',
      expr: `ausd_stream_bytes / (ausd_stream_limit_bytes > 0) > ${streamAlarmPercent / 100}`,
      for: '1m',
      fires: {
        'ausd_stream_bytes{stream="WEBHOOKS"}': '80',
        'ausd_stream_limit_bytes{stream="WEBHOOKS"}': '100',
      },
      quiet: {
        'ausd_stream_bytes{stream="WEBHOOKS"}': '60',
        'ausd_stream_limit_bytes{stream="WEBHOOKS"}': '100',
      },
    },
  },
  ConsumerMissing: {
    severity: 'page',
    means: 'Its messages wait: nothing is lost, and nothing that they order happens.',
    steps:
      '`dc run --rm provision` creates it again, and it then delivers every stored message once more, which the inbox recognises. If it was not deleted by hand, its file was damaged: `dc logs nats | grep -i consumer`, and check the disk.',
    command: 'bus consumer report EVENTS',
    ends: 'it is there again',
    access: ['host'],
    inStatus: true,
    log: ['durable consumer is gone'],
    rule: {
      summary: 'The durable consumer {{ $labels.consumer }} of {{ $labels.stream }} is gone',
      expr: 'max by (stream, consumer) (ausd_consumer_missing) > 0',
      for: '1m',
      fires: { 'ausd_consumer_missing{stream="EVENTS",consumer="payments"}': '1' },
      quiet: { 'ausd_consumer_missing{stream="EVENTS",consumer="payments"}': '0' },
    },
  },
  ConsumerBehind: {
    severity: 'ticket',
    means: 'The service that reads it is down, slow, or fails its messages.',
    steps: 'Its log has the error of each attempt; add an instance if it is only slow.',
    command: 'bus consumer report EVENTS',
    ends: 'the messages are handled',
    access: ['host'],
    inStatus: true,
  },
} as const satisfies Alerts
