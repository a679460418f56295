import type { Guard } from '../guard'
import { dropped, instead, preceded } from '../operators'

const handlingTest = 'shared/platform/bus/handling.test.ts'
const relayTest = 'shared/platform/bus/outbox-relay.test.ts'

export const messagingGuards: readonly Guard[] = [
  {
    guard: 'of two instances with the same message, one claims it',
    kind: 'inbox',
    by: instead('where held.done_at is null', ''),
    test: {
      file: handlingTest,
      name: 'received by two instances at the same moment is handled once',
    },
  },
  {
    guard: 'only the instance with the claim does the work',
    kind: 'inbox',
    by: instead('claimed', 'true'),
    test: {
      file: handlingTest,
      name: 'redelivered after it was handled is not handled again',
    },
  },
  {
    guard: 'a claim commits together with its work or not at all',
    kind: 'inbox',
    by: instead('tx', 'await database.run(async (db) => db)'),
    test: {
      file: handlingTest,
      name: 'whose handler fails leaves no trace and is handled at its redelivery',
    },
  },
  {
    guard: 'a row of the list is claimed once',
    kind: 'inbox',
    by: dropped,
    test: {
      file: handlingTest,
      name: 'is given to one of two open transactions',
    },
  },
  {
    guard: 'a dead letter is kept',
    kind: 'inbox',
    by: dropped,
    test: {
      file: handlingTest,
      name: 'that can never be parsed is dead-lettered with its whole content',
    },
  },
  {
    guard: 'a redrive is done by one instance',
    kind: 'guarded update',
    by: dropped,
    test: {
      file: 'shared/platform/bus/redrive.test.ts',
      name: 'instances that redrive at the same time handle a message once',
    },
  },
  {
    guard: 'a message is a row written by the transaction it reports',
    kind: 'outbox',
    by: instead(
      `insert into \${outbox} (id, subject, payload, request_id, leased_until)
    select \${columns} from \${announced} on conflict do nothing returning id`,
      `select announced.id, 0 as "none", \${columns} from \${announced}`,
    ),
    test: {
      file: relayTest,
      name: 'of a process that died before publishing is published by another',
    },
  },
  {
    guard: 'a message is noted as sent after the broker confirmed it',
    kind: 'outbox',
    by: preceded('sent.mark(message.id)'),
    test: {
      file: relayTest,
      name: 'without a confirmation is not marked as published, and is published once a broker confirms',
    },
  },
  {
    guard: 'a message is identified by an id derived from its cause',
    kind: 'outbox',
    by: dropped,
    test: {
      file: relayTest,
      name: 'is one message under its id, however often it is announced and published',
    },
  },
]
