import { Type } from 'typebox'
import { CommandOutcome, operatorCommandFields } from '#shared/messages/operator-commands'
import { type Question, question } from '#shared/messages/topic'

/** Reverses a posting, as the owner of the journals. */
export const PostingCorrect = question('ops.correct', 'operations', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, posting: Type.String() }),
  answer: CommandOutcome,
  gives: 'money',
})

/** Books money without an owner as capital. */
export const ItemAccept = question('ops.unexplained.accept', 'operations', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, item: Type.String() }),
  answer: CommandOutcome,
  gives: 'money',
})

/** Takes the acceptance of an item as capital back. */
export const ItemReopen = question('ops.unexplained.reopen', 'operations', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, item: Type.String() }),
  answer: CommandOutcome,
  gives: 'nothing',
})

/** Releases the rate of a day although it jumped, in the bucket of rates. */
export const RateRelease = question('ops.rates.release', 'operations', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, pair: Type.String(), day: Type.String() }),
  answer: CommandOutcome,
  gives: 'nothing',
})

/** Names an owner of a break, and mutes its alert until a time. */
export const BreakExplain = question('ops.reconcile.explain', 'operations', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    break: Type.String(),
    owner: Type.String(),
    until: Type.String(),
  }),
  answer: CommandOutcome,
  gives: 'nothing',
})

/** Commands that `ops` carries out itself, signed like requests to a service. */
export const localCommands: readonly Question[] = [PostingCorrect, ItemAccept, ItemReopen, RateRelease, BreakExplain]
