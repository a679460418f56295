import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Stack } from '#infra/local/stack'
import { signIn } from '#shared/client/client'
import { against, type Figure } from '../figure'
import { generateLoad, recoverLoad } from '../load/processes'
import type { Options } from '../options'

const bench = 'signin'
/** Sign-ins prepared per second, more than can be verified. */
const signInsPerSecond = 2_500
const daySeconds = 86_400

export async function benchSignIn(stack: Stack, options: Options): Promise<Figure[]> {
  const { connections } = options
  const seconds = Math.min(4, options.seconds)
  const sessionsFile = join(stack.dir, 'sign-ins.json')
  const until = Math.floor(Date.now() / 1_000) + daySeconds
  const sessions: string[] = []
  while (sessions.length < signInsPerSecond * (seconds + 1))
    sessions.push(await signIn(privateKeyToAccount(generatePrivateKey()), until))
  writeFileSync(sessionsFile, JSON.stringify(sessions))

  const bare = await recoverLoad(seconds)
  const url = `${stack.info.gateway}/me`
  const seen = await generateLoad({ url, sessionsFile, eachOnce: true, connections, seconds })
  if (seen.errors > 0) throw new Error(`${seen.errors} sign-ins failed`)
  return [
    {
      bench,
      name: 'viem recoverMessageAddress, one process',
      unit: 'signatures/s',
      value: bare.perSecond,
    },
    {
      bench,
      name: 'first GET /me of new wallets',
      value: seen.perSecond,
      unit: 'sign-ins/s',
      ...against(seen.perSecond, bare.perSecond, 'bare recover'),
      aim: { of: 'ratio', bound: 'at least', limit: 0.8 },
      note: `${seen.requests} sign-ins, ${seen.errors} errors`,
    },
    { bench, name: 'first GET /me of new wallets, p50', value: seen.p50Ms, unit: 'ms' },
  ]
}
