import type { Context } from '../context'

/** A failure in the words of the provider that fails. */
type Refuse = (status: number, words: string) => Response

/** Answers, unless the faults in force say otherwise: they strike a look-up before it looks. */
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
