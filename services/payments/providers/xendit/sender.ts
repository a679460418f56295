import { asObject } from '#platform/schema'
import { textFrom } from '#shared/provider/field'
import type { SenderVerification } from '../../provider'
import type { WirePayment } from './wire'

type Json = Record<string, unknown>

/** The provider's word is `SENDER_MATCHED`; the others are kept because the place of the result may change. */
const passed = ['SENDER_MATCHED', 'SUCCESS', 'SUCCEEDED', 'PASS', 'PASSED', 'MATCH', 'MATCHED', 'VERIFIED', 'APPROVED']
const pending = ['PENDING', 'IN_PROGRESS', 'PROCESSING', 'REQUESTED', 'WAITING']

/**
 * Returns the result of the sender verification, which merchants in the virtual-asset category get with payments to some
 * virtual accounts in Indonesia. It is documented at `payment_details.verification_result.sender_verification.result`
 * (docs.xendit.co/docs/bri-virtual-account, "Payer Verification"; docs.xendit.co/docs/payer-verification-for-crypto-merchant):
 * the payment is SUCCEEDED with `SENDER_MATCHED` and with `UNKNOWN`, and only the first is to be treated as successful. A
 * payer who is not eligible, or whose risk is other than `NONE`, has failed too. A result elsewhere in the payment counts
 * as well, and the worst one decides. `verification_data` by itself is the request, not a result.
 */
export function senderVerificationOf(wire: WirePayment): SenderVerification | undefined {
  const places = [wire, asObject(wire.verification_data), asObject(wire.payment_details)] as (Json | undefined)[]
  const results = places.flatMap(({ verification_result, sender_verification } = {}) => [
    ...(isGiven(verification_result) ? [resultOf(verification_result)] : []),
    ...(isGiven(sender_verification) ? [wordIn(sender_verification)] : []),
  ])
  return worstOf(results)
}

/** Returns the result of a whole verification, with the payer's eligibility and risk. */
function resultOf(verification: unknown): SenderVerification {
  const parts = asObject(verification)
  if (!parts) return wordIn(verification)
  const { sender_verification, is_eligible, risk_assessment } = parts
  const isEligible = !isGiven(is_eligible) || is_eligible === true
  const assessed = asObject(risk_assessment)
  const risk = assessed ? assessed.result : risk_assessment
  const isRisky = isGiven(risk) && textFrom(risk)?.toUpperCase() !== 'NONE'
  const sender = wordIn(isGiven(sender_verification) ? sender_verification : parts)
  return !isEligible || isRisky ? 'failed' : sender
}

/** Returns the result in a sender verification; one without a result is still pending. */
function wordIn(verification: unknown): SenderVerification {
  const parts = asObject(verification)
  const said = parts ? (parts.result ?? parts.status) : verification
  if (!isGiven(said)) return 'pending'
  const word = textFrom(said)?.toUpperCase() ?? ''
  if (passed.includes(word) || said === true) return 'passed'
  return pending.includes(word) ? 'pending' : 'failed'
}

const worstOf = (results: readonly SenderVerification[]): SenderVerification | undefined =>
  (['failed', 'pending', 'passed'] as const).find((result) => results.includes(result))

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''
