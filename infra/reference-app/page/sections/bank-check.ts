import type { PostCashout } from '#shared/api/money'
import type { BodyOf } from '#shared/api/route'
import { Refused } from '#shared/client/client'
import { exchange } from '#shared/client/exchange'
import { openSession } from '#shared/client/session'
import type { ReferenceApp } from '../app'

type Verdict = 'match' | 'no_match' | 'cannot_tell'
type Checked = { readonly verdict: Verdict; readonly sentence?: string }

/** Checks the holder name of an account. A gateway without the route counts as `cannot_tell`. */
export async function checkBank(
  { account, target }: ReferenceApp,
  bank: BodyOf<typeof PostCashout>['bank'],
): Promise<Checked> {
  const answer = await exchange<Checked>(target, {
    method: 'POST',
    path: '/cashouts/check',
    headers: { authorization: await openSession(account).header() },
    body: JSON.stringify({ bank }),
  })
  if ('ok' in answer) return answer.ok
  if (answer.refused.status === 404) return { verdict: 'cannot_tell' }
  throw new Refused(answer.refused)
}
