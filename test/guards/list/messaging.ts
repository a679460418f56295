import { edit, type Guard } from '../guard'

const handling = { source: 'shared/bus/handling.ts', test: 'shared/bus/handling.test.ts' }
const messaging = 'shared/db/messaging.ts'
const inbox = 'shared/db/inbox.store.ts'
const outbox = 'shared/db/outbox.store.ts'
const relay = { source: 'shared/bus/outbox-relay.ts', test: 'shared/bus/outbox-relay.test.ts' }

/** Exactly-once handling of messages. */
export const messagingGuards: readonly Guard[] = [
  {
    guard: 'of two instances with the same message, one claims it',
    kind: 'inbox',
    edits: [edit(messaging, ' where held.done_at is null', '')],
    test: {
      file: handling.test,
      name: 'that two copies have at the same moment is worked on once',
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
      name: 'that comes again after its work is done is not worked on again',
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
      name: 'whose work fails is not done, and leaves nothing: it is worked on when it comes again',
    },
  },
  {
    guard: 'a row of the list is claimed once',
    kind: 'inbox',
    edits: [edit(inbox, '      setWhere: isNull(inbox.doneAt),\n', '')],
    test: {
      file: handling.test,
      name: 'is given to one of two transactions that are open at once',
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
      name: 'that can never be understood is kept, whole, for a person',
    },
  },
  {
    guard: 'a redrive is done by one instance',
    kind: 'guarded update',
    edits: [
      edit(
        'shared/db/dead-letter.store.ts',
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
      file: 'shared/bus/redrive.test.ts',
      name: 'copies of a service that redrive at once do the work of a message once',
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
      name: 'by a process that ended before it was sent is sent by another',
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
      name: 'and that no broker confirmed is not noted as sent, and comes when there is one',
    },
  },
  {
    guard: 'a message is identified by an id derived from its cause',
    kind: 'outbox',
    edits: [edit('shared/bus/publish.ts', '      msgID: message.id,\n', '')],
    test: {
      file: relay.test,
      name: 'is one message under its id, however often it is announced and sent',
    },
  },
]
