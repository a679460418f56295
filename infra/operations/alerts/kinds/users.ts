import type { Alerts } from '../alert'

export const users = {
  IdentityUnanswered: {
    severity: 'ticket',
    means: 'Lost verdict webhooks stay lost, and approvals wait.',
    steps: 'Sumsub: does the level have the duplicates check?',
    command: 'dc logs --tail 50 gateway',
    ends: 'the identity provider responds about each user',
    access: ['host', 'identity'],
    rule: {
      summary: 'The identity provider does not respond about {{ $value }} users',
      expr: 'max(ausd_identity_rechecks_unanswered) > 0',
      for: '1h',
      fires: { ausd_identity_rechecks_unanswered: '1' },
      quiet: { ausd_identity_rechecks_unanswered: '0' },
    },
  },
} as const satisfies Alerts
