import type { Guard } from '../guard'
import { always, dropped, instead, preceded } from '../operators'

const journalsTest = 'infra/migrations/journals.test.ts'
const rolesTest = 'infra/migrations/migrate.ci.test.ts'
const natsTest = 'infra/nats/provision.test.ts'

/** Guards that keep one compromised service from endangering the others. */
export const rightGuards: readonly Guard[] = [
  {
    guard: 'a posting sums to 0 in every asset',
    kind: 'journal',
    by: instead('unbalanced is not null', 'false'),
    test: { file: journalsTest, name: 'a journal refuses %s', row: 'assets that sum to 0 only together' },
  },
  {
    guard: 'a posting is reversed by its exact negation',
    kind: 'journal',
    by: instead('one.reverses is not null', 'false'),
    test: { file: journalsTest, name: 'a posting that reverses another is refused when it posts %s' },
  },
  {
    guard: 'a line of a journal is never changed, not even by its owner',
    kind: 'journal',
    by: dropped,
    test: {
      file: journalsTest,
      name: 'security: a line of a journal is never %s, neither by its service nor by its owner',
      row: 'changed',
    },
  },
  {
    guard: 'a line of a journal is never changed by its service',
    kind: 'journal',
    by: instead('update, delete,', ''),
    test: {
      file: journalsTest,
      name: 'security: a line of a journal is never %s, neither by its service nor by its owner',
      row: 'changed',
    },
  },
  {
    guard: 'the taker of a quote is never changed',
    kind: 'rights',
    by: dropped,
    test: {
      file: rolesTest,
      name: 'security: the taker of a quote is never changed, not even by pricing',
    },
  },
  {
    guard: 'a service deletes no row',
    kind: 'rights',
    by: instead('update on', 'update, delete on'),
    test: { file: rolesTest, name: 'security: a role may not %s any of its tables', row: 'delete' },
  },
  {
    guard: 'a service writes no row of another service',
    kind: 'rights',
    by: preceded(`grant usage on schema \${role} to public; grant insert on all tables in schema \${role} to public;`),
    test: { file: rolesTest, name: 'security: a role may not %s', row: 'write the rows of another' },
  },
  {
    guard: 'only payments orders a credit',
    kind: 'rights',
    by: always,
    test: {
      file: 'infra/nats/permissions.test.ts',
      name: 'security: nats-server refuses to publish for %s exactly what the catalogue does not grant',
    },
  },
  {
    guard: 'a webhook is stored once while its stream retains messages',
    kind: 'key',
    by: dropped,
    test: {
      file: natsTest,
      name: 'WEBHOOKS stores a delivery once: by id within the window, by subject until it expires',
    },
  },
  {
    guard: 'no user can remove a message from a stream',
    kind: 'rights',
    by: dropped,
    test: { file: natsTest, name: 'the stream %s refuses to remove messages, even for admin' },
  },
]
