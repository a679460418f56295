import type { Unseal } from '#platform/db/person'
import type { Context } from '../context'

/**
 * Decrypts the bank accounts of a wallet's cash-outs for its export: a user has a right to the data, not to
 * its encrypted form. One whose key is gone stays `sealed`, and does not withhold the rest.
 */
export const unsealWith =
  ({ safe, log }: Pick<Context, 'safe' | 'log'>): Unseal =>
  (values) => {
    const { id, bank_details: box, bank_details_key_id: keyId } = values
    if (!box) return values
    try {
      const details = safe.open({ keyId: String(keyId), box: String(box) }, String(id))
      return { ...values, bank_details: details }
    } catch (err) {
      log.error({ err, payoutId: id }, 'bank details cannot be decrypted')
      return { ...values, bank_details: 'sealed' }
    }
  }
