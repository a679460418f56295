import type { Unseal } from '#platform/db/person'
import type { Context } from '../context'

/**
 * Decrypts bank details for the user's data export. An entry whose key is missing, or that outlives an erasure because
 * the law wants it, stays `sealed`.
 */
export const unsealWith =
  ({ safe, log }: Pick<Context, 'safe' | 'log'>): Unseal =>
  (values) => {
    const { id, bank_details: box, bank_details_key_id: keyId } = values
    if (!box) return values
    if (values.account_mark === null) return { ...values, bank_details: 'sealed' }
    try {
      const details = safe.open({ keyId: String(keyId), box: String(box) }, String(id))
      return { ...values, bank_details: details }
    } catch (err) {
      log.error({ err, payoutId: id }, 'bank details cannot be decrypted')
      return { ...values, bank_details: 'sealed' }
    }
  }
