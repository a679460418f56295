import { Type } from 'typebox'
import { openProviderClient } from '#shared/provider/client'
import { isSameName } from '../../account-check/names'
import type { PayoutProvider } from '../../provider'
import { storedNumber } from '../xendit/account-numbers'
import { type openXendit, xenditPayouts } from '../xendit/client'

/** Response of the account check. The name is null if the bank does not give it. */
const Holder = Type.Object({
  found: Type.Boolean(),
  account_holder_name: Type.Union([Type.String(), Type.Null()]),
})

/** Opens Xendit's payouts with an account check of our own, because no endpoint of Xendit for it is proven. */
export function openSandboxPayouts({ apis, ...options }: Parameters<typeof openXendit>[0]): PayoutProvider {
  const client = openProviderClient({ ...options, account: 'ID' })
  return {
    ...xenditPayouts(client, apis),
    async checkHolder({ channelCode, accountNumber, accountHolderName }) {
      const body = {
        channel_code: channelCode,
        account_number: storedNumber(channelCode, accountNumber),
      }
      const answer = await client.post('/sandbox/account_holders', { schema: Holder, body })
      if ('refused' in answer) return 'cannot_tell'
      const { found, account_holder_name: name } = answer.ok
      if (!found) return 'no_match'
      const isSame = name === null ? undefined : isSameName(name, accountHolderName)
      if (isSame === undefined) return 'cannot_tell'
      return isSame ? 'match' : 'no_match'
    },
  }
}
