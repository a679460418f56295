import type { Context } from '../context'

/** Builds an error response in the provider's format. */
type Refuse = (status: number, words: string) => Response

/** Runs a look-up, or fails before it runs if an active fault hits. */
export async function misbehaving(
  { chance, faults }: Context,
  refuse: Refuse,
  answer: () => Response,
): Promise<Response> {
  await Bun.sleep(faults.api.delayMs)
  if (chance.hits(faults.api.rateLimitRate)) return refuse(429, 'Too many requests')
  if (chance.hits(faults.api.errorRate)) return refuse(500, 'Internal server error')
  return answer()
}
