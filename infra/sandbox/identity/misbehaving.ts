import type { SandboxContext } from '../context'

type Refuse = (status: number, words: string) => Response

export async function misbehaving(
  { chance, faults }: SandboxContext,
  refuse: Refuse,
  answer: () => Response,
): Promise<Response> {
  await Bun.sleep(faults.api.delayMs)
  if (chance.hits(faults.api.rateLimitRate)) return refuse(429, 'Too many requests')
  if (chance.hits(faults.api.errorRate)) return refuse(500, 'Internal server error')
  return answer()
}
