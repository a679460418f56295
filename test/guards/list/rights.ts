import { edit, type Guard } from '../guard'

const journals = {
  source: 'infra/migrations/journals.ts',
  test: 'infra/migrations/journals.test.ts',
}
const roles = { source: 'infra/migrations/roles.ts', test: 'infra/migrations/migrate.ci.test.ts' }
const nats = { topology: 'infra/nats/topology.ts', test: 'infra/nats/provision.test.ts' }

/** One compromised service must not endanger the others. */
export const rightGuards: readonly Guard[] = [
  {
    guard: 'a posting sums to 0 in every asset',
    kind: 'journal',
    edits: [edit(journals.source, 'if unbalanced is not null then', 'if false then')],
    test: { file: journals.test, name: 'refuses %s', row: 'assets that sum to 0 only together' },
  },
  {
    guard: 'a posting is reversed by its exact negation',
    kind: 'journal',
    edits: [
      edit(journals.source, 'or one.reverses is not null and exists (', 'or false and exists ('),
    ],
    test: { file: journals.test, name: 'is refused when it posts %s' },
  },
  {
    guard: 'a line of a journal is never changed, not even by its owner',
    kind: 'journal',
    edits: [
      edit(
        journals.source,
        'create or replace trigger journal_stays before update or delete on',
        'create or replace trigger journal_stays after insert on',
      ),
      edit(
        journals.source,
        `raise exception 'journal lines cannot be changed or removed: reverse the posting instead'
      using errcode = 'insufficient_privilege';`,
        'return null;',
      ),
    ],
    test: {
      file: journals.test,
      name: 'security: is never %s, neither by its service nor by its owner',
      row: 'changed',
    },
  },
  {
    guard: 'a line of a journal is never changed by its service',
    kind: 'journal',
    edits: [
      edit(
        journals.source,
        `  revoke update, delete, truncate on \${schema}.journal from \${schema};`,
        '',
      ),
    ],
    test: {
      file: journals.test,
      name: 'security: is never %s, neither by its service nor by its owner',
      row: 'changed',
    },
  },
  {
    guard: 'the taker of a quote is never changed',
    kind: 'rights',
    edits: [
      edit(
        roles.source,
        'await sql`revoke update on pricing.quotes_taken from pricing`',
        'await sql`select 1`',
      ),
    ],
    test: {
      file: roles.test,
      name: 'security: the taker of a quote is never changed, not even by pricing',
    },
  },
  {
    guard: 'a service deletes no row',
    kind: 'rights',
    edits: [
      edit(
        roles.source,
        `grant select, insert, update on all tables in schema \${role} to \${role};`,
        `grant select, insert, update, delete on all tables in schema \${role} to \${role};`,
      ),
    ],
    test: { file: roles.test, name: 'security: may not %s any of its tables', row: 'delete' },
  },
  {
    guard: 'a service writes no row of another service',
    kind: 'rights',
    edits: [
      edit(
        roles.source,
        `grant select on all tables in schema \${role} to auditor, books, ops;`,
        `grant select on all tables in schema \${role} to auditor, books, ops; grant usage on schema \${role} to public; grant insert on all tables in schema \${role} to public;`,
      ),
    ],
    test: { file: roles.test, name: 'security: may not %s', row: 'write the rows of another' },
  },
  {
    guard: 'only payments orders a credit',
    kind: 'rights',
    edits: [
      edit(
        'infra/nats/users.gen.conf',
        '        "$SRV.PING"\n        "$SRV.PING.*.*"\n        "$SRV.STATS"\n        # Stream usage',
        '        "relay.credit"\n        "$SRV.PING"\n        "$SRV.PING.*.*"\n        "$SRV.STATS"\n        # Stream usage',
      ),
    ],
    test: { file: 'infra/nats/permissions.test.ts', name: 'publishing by %s' },
  },
  {
    guard: 'a webhook is stored once while its stream retains messages',
    kind: 'key',
    edits: [
      edit(nats.topology, '    max_msgs_per_subject: 1,\n    discard_new_per_subject: true,\n', ''),
    ],
    test: {
      file: nats.test,
      name: 'keeps a delivery once: by id within the window, by subject until it expires',
    },
  },
  {
    guard: 'no user can remove a message from a stream',
    kind: 'rights',
    edits: [edit(nats.topology, '  deny_delete: true,\n  deny_purge: true,\n', '')],
    test: { file: nats.test, name: '%s refuses to remove messages, even for admin' },
  },
]
