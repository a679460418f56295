import type { Static } from 'typebox'
import { propose, waitsText } from '#infra/operations/audit-log/proposals'
import type { Operator } from '#infra/operations/cli/operator'
import type { CommandOutcome, OperatorSignature, Terms } from '#shared/messages/operator-commands'
import { orderedJson, signedText } from '#shared/operators/signed-text'

type Outcome = Static<typeof CommandOutcome>
/** Outcome of a command for its operator, without what only its signer needs. */
export type CommandReply = { readonly done: string } | { readonly refused: string }

/** Thrown out of a command that waits for a second operator, so that no step of the command runs after it. */
export class Proposed extends Error {
  override name = 'Proposed'
}

export const changedSince =
  'what it acts on has changed since it was proposed: run the command again instead of approving it'

export type SigningOperator = Partial<Pick<Operator, 'sql' | 'signing'>>

/**
 * Sends a command with the signatures that it needs. The service is asked for its terms first; then the operator signs them, or,
 * above the sum, proposes the command and throws `Proposed`. An approval sends exactly what was proposed, with both signatures.
 */
export async function signedOutcome(
  { sql, signing }: SigningOperator,
  subject: string,
  request: { readonly command: string },
  send: (request: object) => Promise<Outcome>,
): Promise<CommandReply> {
  const sign = async (terms: Terms): Promise<OperatorSignature> => {
    const { name: by, rules, sign } = signing!.signer
    return { by, signature: await sign(signedText({ deployment: rules.deployment, subject, request, terms })) }
  }
  const approving = signing?.approving
  if (approving) {
    const isSame = approving.subject === subject && orderedJson(approving.request) === orderedJson(request)
    if (!isSame) return { refused: changedSince }
    const { terms, signature } = approving
    return replyOf(await send({ ...request, approval: { terms, signatures: [signature, await sign(terms)] } }))
  }
  let outcome = await send(request)
  while (signing && sql && 'refused' in outcome && outcome.unsigned) {
    const { terms, operators } = outcome.unsigned
    const signature = await sign(terms)
    if (operators === 2) {
      const { command } = request
      await propose(sql, { command, subject, request, terms, line: signing.line, signature })
      throw new Proposed(waitsText({ by: signature.by, command, terms, until: new Date(terms.until) }))
    }
    const signed = await send({ ...request, approval: { terms, signatures: [signature] } })
    // Another command of the operator may have been counted since: then this one needs a second operator.
    const isLess = 'refused' in signed && signed.unsigned?.operators === 1
    outcome = isLess ? { refused: signed.refused } : signed
  }
  if ('refused' in outcome && outcome.unsigned)
    return { refused: `${outcome.refused}. Set OPERATORS as the services have it, and OPERATOR_KEY_FILE` }
  return replyOf(outcome)
}

const replyOf = (outcome: Outcome): CommandReply =>
  'done' in outcome ? { done: outcome.done } : { refused: outcome.refused }
