import type { Terms, Worth } from '#shared/messages/operator-commands'
import { moneyText } from '#shared/money/text'
import type { NamedOperator } from '#shared/operators/operators'

/** Worth of a command that gives nothing away. */
export const nothing: Worth = { micro: 0n, to: '', seen: '' }
/** Worth of a command whose sum and beneficiary cannot be told. */
export const unknownWorth: Worth = { micro: null, to: '', seen: '' }

/** Signature with the address that it proves, of which there is none if it is no signature. */
export type ReadSignature = { readonly by: string; readonly address: `0x${string}` | undefined }

export type AskedCommand = {
  /** Operator whom the request names, and so the audit log. */
  readonly by: string
  readonly worth: Worth
  /** What one operator alone gave of late, if it counts with this command (10⁻⁶ AUSD). */
  readonly aloneMicro: bigint
  /** Undefined if nothing is signed. */
  readonly signed?: { readonly terms: Terms; readonly signatures: readonly ReadSignature[] } | undefined
}

export type CommandRules = {
  readonly operators: readonly NamedOperator[]
  /** Sum above which two operators are needed (10⁻⁶ AUSD). */
  readonly aboveMicro: bigint
  readonly nowMs: number
}

/** `needs` is the number of operators who must sign. `refused` is a sentence for the operator. */
export type Permission = { readonly may: true } | { readonly needs: 1 | 2 } | { readonly refused: string }

/** Longest time for which terms are offered, and so signatures count, in ms. */
export const approvalMs = 24 * 3_600_000

/** Difference of the clocks of two instances that is tolerated, in ms. */
const clocksMs = 60_000

/** Decides whether a command may be performed: who signed what, and whether that is enough for what it gives away now. */
export function mayPerform({ by, worth, aloneMicro, signed }: AskedCommand, rules: CommandRules): Permission {
  const { operators, aboveMicro } = rules
  if (operators.length === 0) return { may: true }
  const isAbove = worth.micro === null || (worth.micro > 0n && worth.micro + aloneMicro > aboveMicro)
  const needs = isAbove ? 2 : 1
  if (!signed) return { needs }
  const refused = faultOf(signed.signatures, by, operators) ?? changeOf(signed.terms, worth, rules)
  // guard: a signature counts only for its operator, command, sum, state and time
  if (refused) return { refused }
  // guard: a sum above the limit needs two operators
  return signed.signatures.length >= needs ? { may: true } : { needs }
}

function faultOf(
  signatures: readonly ReadSignature[],
  by: string,
  operators: readonly NamedOperator[],
): string | undefined {
  for (const { by: name, address } of signatures) {
    const operator = operators.find((one) => one.name === name)
    if (!operator) return `${name} is not an operator of this deployment`
    if (operator.address !== address)
      return `the signature of ${name} is not by the key of ${name}, or not of this command and deployment`
  }
  const [first, second] = signatures
  if (first && first.by !== by) return `the command is by ${by}, but ${first.by} signed it first`
  if (second && second.by === first?.by) return `${second.by} signed twice: another operator must approve`
  return undefined
}

function changeOf({ until, ...terms }: Terms, worth: Worth, { nowMs }: CommandRules): string | undefined {
  const endMs = Date.parse(until)
  if (!(endMs > nowMs)) return `its signatures counted until ${until}: run the command again`
  if (endMs > nowMs + approvalMs + clocksMs) return `signatures cannot count until ${until}`
  const isSame = terms.micro === textOf(worth.micro) && terms.to === worth.to && terms.seen === worth.seen
  return isSame
    ? undefined
    : `it has changed since it was signed, and now ${givesText(worth)}: look again and repeat it`
}

const textOf = (micro: bigint | null) => (micro === null ? null : String(micro))

/** Returns the terms to sign. */
export const termsOf = ({ micro, to, seen }: Worth, nowMs: number): Terms => ({
  micro: textOf(micro),
  to,
  seen,
  until: new Date(nowMs + approvalMs).toISOString(),
})

/** Returns what is given to whom, after "it". */
export function givesText({ micro, to }: { readonly micro: bigint | string | null; readonly to: string }): string {
  if (micro !== null && BigInt(micro) === 0n) return 'gives nothing away'
  const sum = micro === null ? 'an unknown sum' : moneyText(String(micro), 'AUSD')
  return `gives ${sum}${to === '' ? '' : ` to ${to}`}`
}
