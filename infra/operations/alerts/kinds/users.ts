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
  IdentityOrderFailed: {
    severity: 'page',
    means: 'A rejected user stays verified, or an approved one cannot borrow.',
    steps:
      '`dc logs chain-relayer` has the reason; a flag: `persons order <wallet>`. A first native coin is not ordered again: send the wallet some, unless it is a contract that refuses it.',
    command: 'ops persons list',
    ends: 'the flag is final on the chain, or the wallet has coin',
    access: ['host', 'ops', 'funds'],
    inStatus: true,
    log: ['verified flag not set on chain', 'native coin drip failed', 'identity order unanswered, giving up'],
  },
  SecondWallet: {
    severity: 'ticket',
    steps: 'See "a person who has another wallet" in [daily.md](daily.md).',
    command: 'ops persons list',
    ends: '`persons link` or `persons allow` decides about it',
    access: ['ops', 'identity'],
    inStatus: true,
  },
  IdentityUnknown: {
    severity: 'ticket',
    steps: 'Its record was deleted, or the key is of another account. Verify the user again.',
    ends: null,
    access: ['identity'],
    log: ['verified wallet unknown to identity provider'],
  },
  IdentityDeleted: {
    severity: 'ticket',
    steps:
      'The wallet owes or has defaulted, and the provider no longer recognises the borrower, who could begin a second record. Ask the provider to restore the applicant or to block the borrower. If the user asked the provider for the deletion, tell them that their data is needed for the claim.',
    ends: null,
    access: ['identity'],
    log: ['identity deleted at provider despite a claim'],
  },
  IdentityWebhookUnused: {
    severity: 'ticket',
    steps:
      '`kind` gives the cause: an unreadable event (`detail` says why), or one of an identity provider that is not configured, in whose dashboard the webhook has to be removed. No verdict is lost: users are looked up again.',
    ends: null,
    access: ['identity', 'host'],
    log: ['identity webhook not applied'],
  },
  RemindersUnsent: {
    severity: 'ticket',
    steps:
      'Check indexer-reader and chain-relayer: without them no date is known. A reminder that is no longer true is left out afterwards.',
    ends: 'a round of reminders is sent',
    access: ['host'],
    log: ['reminders of due debts not sent'],
  },
} as const satisfies Alerts
