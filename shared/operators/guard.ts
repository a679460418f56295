import type { Static } from 'typebox'
import type { Database, Tx } from '#platform/db/open'
import { schemaReader } from '#platform/schema'
import {
  type Approval,
  type CommandOutcome,
  isOperatorCommand,
  type Terms,
  type Worth,
  type WorthOf,
} from '#shared/messages/operator-commands'
import type { Question } from '#shared/messages/topic'
import {
  type ApprovalTable,
  type Attempt,
  discount,
  isApproved,
  lockApprovals,
  noteRepeat,
  recordApproval,
  sumAlone,
} from '#shared/operators/approval.store'
import { givesText, mayPerform, nothing, type Permission, termsOf, unknownWorth } from '#shared/operators/may-perform'
import type { OperatorRules } from '#shared/operators/operators'
import { readSignatures, requestHash, signedHash } from '#shared/operators/signed-text'
import { ok } from '#shared/refusals'

/** Handler of a command, with the worth of one that gives money away. */
type Command = {
  readonly question: Question
  readonly answer: (request: unknown) => Promise<unknown>
  readonly worth?: WorthOf
}

/** Rules of a process, and its table of approvals unless none of its commands gives money away. */
export type CommandGuard = OperatorRules & {
  readonly approvals?: Approvals
  readonly clock: () => number
}
type Approvals = {
  readonly database: Pick<Database, 'read' | 'transaction' | 'run'>
  readonly table: ApprovalTable
  /** True if its rows never change: a command that is refused after all counts like one that is done. */
  readonly isInsertOnly?: boolean
}

type Outcome = Static<typeof CommandOutcome>

/** Parts of the request of every command. */
type CommandRequest = { readonly command: string; readonly by: string; readonly approval?: Approval }

/** Returns a function that puts each command among the handlers of a process behind the check of `guarded`. */
export const guardCommands =
  (guard: CommandGuard) =>
  <C extends Command>(handler: C): C =>
    guarded(guard, handler)

/**
 * Returns the handler behind the one check of who may do what. It passes a command on if it has the signatures that its worth
 * needs; otherwise it refuses it, with the terms to sign. A command whose approval is recorded is passed on again, because its
 * response may have been lost.
 */
export function guarded<C extends Command>(guard: CommandGuard, handler: C): C {
  if (guard.operators.length === 0 || !isOperatorCommand(handler.question)) return handler
  return { ...handler, answer: (request: unknown) => answerGuarded(guard, handler, request) }
}

async function answerGuarded(guard: CommandGuard, { question, answer, worth }: Command, request: unknown) {
  const signed = structuredClone(request)
  const read = schemaReader(question.request)(structuredClone(request))
  if ('fault' in read) return answer(request)
  const { approval, ...bare } = signed as CommandRequest
  const asked = { question, bare, approval, worth: () => worthNow(question, worth, read.value as never) }
  const permission = await permit(guard, asked)
  if ('refused' in permission) return ok(permission)
  const answered = await answer(request)
  if (permission.first && isRefused(answered)) await forget(guard, permission.first)
  return answered
}

const isRefused = (answered: unknown) =>
  'refused' in ((answered as { ok?: object }).ok ?? (answered as { refused?: string }))

async function worthNow(question: Question, worth: WorthOf | undefined, request: never): Promise<Worth> {
  if (question.gives === 'nothing') return nothing
  // A command that does not say what it gives always needs two operators.
  if (!worth) return unknownWorth
  return (await worth(request)) ?? nothing
}

type Asked = {
  readonly question: Question
  readonly bare: CommandRequest
  readonly approval: Approval | undefined
  readonly worth: () => Promise<Worth>
}

/** A refusal, or permission. `first`: the attempt that made the approval count. */
type Verdict = Extract<Outcome, { refused: string }> | { readonly first?: Attempt }

async function permit(guard: CommandGuard, asked: Asked): Promise<Verdict> {
  const { question, bare, approval } = asked
  const command = { deployment: guard.deployment, subject: question.subject, request: bare }
  const signed = approval && {
    terms: approval.terms,
    signatures: await readSignatures({ ...command, terms: approval.terms }, approval.signatures),
  }
  const hash = approval && signedHash({ ...command, terms: approval.terms })
  const nowMs = guard.clock()
  const rules = { ...guard, nowMs }
  const { approvals } = guard
  if (approvals && signed && hash && (await isKnown(approvals, bare.command, hash))) {
    const permission = mayPerform({ by: bare.by, worth: worthIn(signed.terms), aloneMicro: 0n, signed }, rules)
    return 'refused' in permission ? permission : {}
  }
  const worth = await asked.worth()
  const decide = (aloneMicro: bigint) => mayPerform({ by: bare.by, worth, aloneMicro, signed }, rules)
  if (!approvals || worth.micro === 0n) return verdictOf(decide(0n), worth, nowMs)
  return approvals.database.transaction(async (tx: Tx) => {
    // guard: what an operator gives alone is counted before the next command
    lockApprovals(tx)
    const { command: id, by } = bare
    const request = { command: id, requestHash: requestHash(command), by }
    const aloneMicro = await sumAlone(tx, approvals.table, { ...request, to: worth.to })
    const permission = decide(aloneMicro)
    if (!('may' in permission) || !hash) return verdictOf(permission, worth, nowMs)
    const second = signed?.signatures[1]?.by ?? null
    const at = await recordApproval(tx, approvals, {
      ...request,
      hash,
      second,
      beneficiary: worth.to,
      micro: worth.micro,
    })
    return at ? { first: { command: id, hash, at } } : {}
  })
}

const isKnown = ({ database, table, isInsertOnly }: Approvals, command: string, hash: string) =>
  isInsertOnly
    ? database.read((db) => isApproved(db, table, command, hash))
    : database.run((db) => noteRepeat(db, table, command, hash))

const worthIn = ({ micro, to, seen }: Terms): Worth => ({ micro: micro === null ? null : BigInt(micro), to, seen })

function verdictOf(permission: Permission, worth: Worth, nowMs: number): Verdict {
  if ('may' in permission) return {}
  if ('refused' in permission) return permission
  const { needs } = permission
  const who = needs === 2 ? 'two operators must sign it' : 'an operator must sign it'
  return { refused: `it ${givesText(worth)}: ${who}`, unsigned: { terms: termsOf(worth, nowMs), operators: needs } }
}

async function forget({ approvals }: CommandGuard, attempt: Attempt): Promise<void> {
  if (!approvals || approvals.isInsertOnly) return
  await approvals.database.run((db) => discount(db, approvals.table, attempt))
}
