import { generalRefusals, refusals } from '#shared/declared-refusals'

export type RefusalCode = keyof typeof refusals
export const refusalCodes = Object.keys(refusals) as RefusalCode[]

export type GeneralCode = keyof typeof generalRefusals
/** Values of the `x-error-code` header. */
export type ErrorCode = RefusalCode | GeneralCode
export const errorCodes = [...refusalCodes, ...Object.keys(generalRefusals)] as ErrorCode[]

export const statusOf = (code: ErrorCode): number =>
  code in refusals ? refusals[code as RefusalCode].status : generalRefusals[code as GeneralCode].status

const generalCodes = new Map<number, GeneralCode>(
  Object.entries(generalRefusals).map(([code, { status }]) => [status, code as GeneralCode]),
)
export const generalCodeOf = (status: number): GeneralCode =>
  generalCodes.get(status) ?? (status < 500 ? 'bad_request' : 'internal')
export const errorCodeHeader = 'x-error-code'

/** A result or a refusal; faults are thrown, never returned. */
export type Answer<T> = { ok: T } | Refusal
/** A refusal; `since` is when an operator paused the operation, in ISO 8601. */
export type Refusal = { refused: RefusalCode; since?: string }

export const ok = <T>(value: T): Answer<T> => ({ ok: value })
export const refuse = (refused: RefusalCode, since?: string): Refusal =>
  since === undefined ? { refused } : { refused, since }
