import type { Alerts } from '../alert'

/** Maximum age of a comparison in ms. The books are compared every minute. */
export const comparedMaxMs = 600_000

export const books = {
  BooksBreakOpen: {
    severity: 'page',
    means: 'Rows, journals, chain and provider disagree about an item.',
    steps: 'See Breaks in the books, below.',
    command: 'ops reconcile',
    ends: 'a comparison no longer finds it; `reconcile explain` mutes it until a date',
    access: ['ops'],
    inStatus: true,
    log: ['reconciliation break open'],
    rule: {
      summary: '{{ $value }} breaks in the books are past their grace period',
      expr: 'max(ausd_books_breaks{standing="beyond_grace"}) > 0',
      for: '1m',
      fires: { 'ausd_books_breaks{standing="beyond_grace"}': '1' },
      quiet: { 'ausd_books_breaks{standing="beyond_grace"}': '0' },
    },
  },
  BooksNotReconciled: {
    severity: 'page',
    means: '`operations` cannot read, or hangs.',
    steps:
      'If the command reads everything, `operations` hangs: `dc logs --tail 50 operations`, then `dc restart operations`.',
    command: 'ops reconcile',
    ends: 'the books are compared',
    access: ['ops', 'host'],
    inStatus: true,
    rule: {
      summary: 'The books are not being reconciled',
      expr: `min(ausd_books_run_age_seconds) > ${comparedMaxMs / 1_000} or absent(ausd_books_run_age_seconds)`,
      for: '5m',
      fires: { ausd_books_run_age_seconds: '700' },
      quiet: { ausd_books_run_age_seconds: '30' },
    },
  },
  PostingsChanged: {
    severity: 'page',
    means:
      'A sealed line of a journal was changed or removed, or one was added to those of a seal, or the last seal was removed. No service does that: someone used the password of the owner, or a disk failed.',
    steps:
      'Keep the database as it is, and the log lines `journal sealed`. Compare the journal with a backup from before its seal. See Sealed postings in [restore.md](restore.md).',
    command: 'ops books verify',
    ends: 'the seals fit the journal',
    access: ['ops', 'owner'],
    log: ['sealed postings differ'],
  },
  PostingsUnsealed: {
    severity: 'ticket',
    means: 'A line of a journal has waited for its seal for an hour, so that a change of it would not be noticed.',
    steps:
      'A transaction has stayed open since then: find it in `pg_stat_activity` (`backend_xid`) or `pg_prepared_xacts`, and end it. If there is none, a line was booked with a wrong number of its transaction.',
    command: 'ops books verify',
    ends: 'the lines are sealed',
    access: ['ops', 'owner'],
    log: ['postings are not sealed'],
  },
  BooksUnreadable: {
    severity: 'ticket',
    steps: 'Check the RPC endpoints and the provider key.',
    ends: 'both can be read',
    access: ['host', 'provider'],
    log: ['chain or provider read failed, will retry'],
  },
  UnexplainedAusd: {
    severity: 'ticket',
    steps: 'See "unexplained AUSD" in [daily.md](daily.md).',
    command: 'ops unexplained list',
    ends: 'each transfer is returned, accepted or explained',
    access: ['ops'],
    inStatus: true,
  },
} as const satisfies Alerts
