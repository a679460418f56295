import { textFrom } from '#shared/provider/field'
import { asObject } from '#shared/schema'
import type { SenderVerification } from '../../provider'
import type { WirePayment } from './wire'

const passed = [
  'SUCCESS',
  'SUCCEEDED',
  'PASS',
  'PASSED',
  'MATCH',
  'MATCHED',
  'VERIFIED',
  'APPROVED',
]
const pending = ['PENDING', 'IN_PROGRESS', 'PROCESSING', 'REQUESTED', 'WAITING']

/**
 * What the provider found out about who paid: merchants of the virtual-asset category get it with
 * payments by some virtual accounts of Indonesia (docs.xendit.co/docs/payer-verification-for-crypto-merchant).
 * Its place in the body is not certain, so all of them are read. `verification_data` alone is what was
 * asked for and not an answer: undefined, as where there is nothing of it.
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

/** A word, or an object with one; without any it is not decided yet. */
function resultOf(verification: unknown): SenderVerification {
  const result = asObject(verification)?.result ?? asObject(verification)?.status
  const said = typeof verification === 'object' ? result : verification
  if (said === undefined || said === null || said === '') return 'pending'
  const word = textFrom(said)?.toUpperCase() ?? ''
  if (passed.includes(word) || said === true) return 'passed'
  return pending.includes(word) ? 'pending' : 'failed'
}
