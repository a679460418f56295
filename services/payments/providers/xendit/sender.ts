import { asObject } from '#platform/schema'
import { textFrom } from '#shared/provider/field'
import type { SenderVerification } from '../../provider'
import type { WirePayment } from './wire'

const passed = ['SUCCESS', 'SUCCEEDED', 'PASS', 'PASSED', 'MATCH', 'MATCHED', 'VERIFIED', 'APPROVED']
const pending = ['PENDING', 'IN_PROGRESS', 'PROCESSING', 'REQUESTED', 'WAITING']

/**
 * Returns the result of the sender verification, which merchants in the virtual-asset category get with
 * payments to some virtual accounts in Indonesia
 * (docs.xendit.co/docs/payer-verification-for-crypto-merchant). Its place in the body is undocumented, so
 * every candidate is read. `verification_data` by itself is the request, not a result.
 */
export function senderVerificationOf(wire: WirePayment): SenderVerification | undefined {
  const places = [wire, asObject(wire.verification_data), asObject(wire.payment_details)]
  const results = places.flatMap((place) => {
    const verification = (place as Record<string, unknown> | undefined)?.sender_verification
    return verification === undefined || verification === null ? [] : [resultOf(verification)]
  })
  if (results.length === 0) return undefined
  return (['failed', 'pending', 'passed'] as const).find((result) => results.includes(result))
}

/** Returns the result in one candidate; a verification without a result is still pending. */
function resultOf(verification: unknown): SenderVerification {
  const result = asObject(verification)?.result ?? asObject(verification)?.status
  const said = typeof verification === 'object' ? result : verification
  if (said === undefined || said === null || said === '') return 'pending'
  const word = textFrom(said)?.toUpperCase() ?? ''
  if (passed.includes(word) || said === true) return 'passed'
  return pending.includes(word) ? 'pending' : 'failed'
}
