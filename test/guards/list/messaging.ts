import { edit, type Guard } from '../guard'

const handling = {
  source: 'shared/platform/bus/handling.ts',
  test: 'shared/platform/bus/handling.test.ts',
}
const messaging = 'shared/platform/db/messaging.ts'
const inbox = 'shared/platform/db/inbox.store.ts'
const outbox = 'shared/platform/db/outbox.store.ts'
const relay = {
  source: 'shared/platform/bus/outbox-relay.ts',
  test: 'shared/platform/bus/outbox-relay.test.ts',
}

export const messagingGuards: readonly Guard[] = [
  {
    guard: 'of two instances with the same message, one claims it',
    kind: 'inbox',
    edits: [edit(messaging, ' where held.done_at is null', '')],
    test: {
      file: handling.test,
      name: 'received by two instances at the same moment is handled once',
    },
  },
  {
    guard: 'only the instance with the claim does the work',
    kind: 'inbox',
    edits: [
      edit(
        handling.source,
        'await (claimed ? reaction.apply(tx, value, found) : again?.(tx, value))',
        'await reaction.apply(tx, value, found)',
      ),
    ],
    test: {
      file: handling.test,
      name: 'redelivered after it was handled is not handled again',
    },
  },
  {
    guard: 'a claim commits together with its work or not at all',
    kind: 'inbox',
    edits: [
      edit(
        handling.source,
        'claimDelivered(tx, messaging, consumer, messageId)',
        'database.run((db) => claimDelivered(db, messaging, consumer, messageId))',
      ),
    ],
    test: {
      file: handling.test,
      name: 'whose handler fails leaves no trace and is handled at its redelivery',
    },
  },
  {
    guard: 'a row of the list is claimed once',
    kind: 'inbox',
    edits: [edit(inbox, '      setWhere: isNull(inbox.doneAt),\n', '')],
    test: {
      file: handling.test,
      name: 'is given to one of two open transactions',
    },
  },
  {
    guard: 'a dead letter is kept',
    kind: 'inbox',
    edits: [
      edit(
        handling.source,
        'await storeDeadLetter(tx, messaging.deadLetters, { consumer, ...message, reason: verdict.dead })',
        'storeDeadLetter.toString()',
      ),
    ],
    test: {
      file: handling.test,
      name: 'that can never be parsed is dead-lettered with its whole content',
    },
  },
  {
    guard: 'a redrive is done by one instance',
    kind: 'guarded update',
    edits: [
      edit(
        'shared/platform/db/dead-letter.store.ts',
        `        isNotNull(deadLetters.redriveRequestedAt),
        isNull(deadLetters.redrivenAt),
      ),
    )
    .returning({ messageId: deadLetters.messageId })
  return won.length === 1`,
        `        isNotNull(deadLetters.redriveRequestedAt),
      ),
    )
    .returning({ messageId: deadLetters.messageId })
  return won.length === 1`,
      ),
    ],
    test: {
      file: 'shared/platform/bus/redrive.test.ts',
      name: 'instances that redrive at the same time handle a message once',
    },
  },
  {
    guard: 'a message is a row written by the transaction it reports',
    kind: 'outbox',
    edits: [
      edit(
        outbox,
        `    insert into \${outbox} (id, subject, payload, request_id, leased_until)
    select \${columns} from \${told} on conflict do nothing returning id\``,
        `    select told.id, 0 as "none", \${columns} from \${told}\``,
      ),
    ],
    test: {
      file: relay.test,
      name: 'of a process that died before publishing is published by another',
    },
  },
  {
    guard: 'a message is noted as sent after the broker confirmed it',
    kind: 'outbox',
    edits: [
      edit(
        relay.source,
        '        const published = await publish(bus, message)\n',
        '        sent.mark(message.id)\n        const published = await publish(bus, message)\n',
      ),
    ],
    test: {
      file: relay.test,
      name: 'without a confirmation is not marked as published, and is published once a broker confirms',
    },
  },
  {
    guard: 'a message is identified by an id derived from its cause',
    kind: 'outbox',
    edits: [edit('shared/platform/bus/publish.ts', '      msgID: message.id,\n', '')],
    test: {
      file: relay.test,
      name: 'is one message under its id, however often it is announced and published',
    },
  },
]
