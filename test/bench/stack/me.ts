import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Stack } from '#infra/local/stack'
import { signIn } from '#shared/client/client'
import { flowsEnding, topUp } from '../../support/flows'
import { verifiedUser } from '../../support/people'
import { type Aim, against, type Figure } from '../figure'
import type { LoadResult } from '../load/generator'
import { generateLoad, startPlainServer } from '../load/processes'
import type { Options } from '../options'

const bench = 'me'
const people = 64
const topups = 5

const routes = [
  { path: '/me', aim: { of: 'ratio', bound: 'at least', limit: 0.15 } },
  { path: '/me/activity', aim: { of: 'ratio', bound: 'at least', limit: 0.08 } },
] as const satisfies readonly { path: string; aim: Aim }[]

export async function benchMe(stack: Stack, options: Options): Promise<Figure[]> {
  const { connections } = options
  const seconds = Math.ceil(options.seconds / 2)
  const one = await personWithTopups(stack)
  const many = [one, ...(await Promise.all(Array.from({ length: people - 1 }, newSession)))]
  const sessionsOf = (name: string, sessions: readonly string[]) => {
    const path = join(stack.dir, `${name}.json`)
    writeFileSync(path, JSON.stringify(sessions))
    return path
  }
  const files = { one: sessionsOf('one', [one]), many: sessionsOf('many', many) }
  const figures: Figure[] = []
  for (const { path, aim } of routes) {
    const url = `${stack.info.gateway}${path}`
    const load = (sessionsFile: string) => generateLoad({ url, sessionsFile, connections, seconds })
    const bare = await bareLoad(await bodyOf(url, one), { connections, seconds })
    await load(files.many) // In this warm-up all users sign in, and hot code is compiled.
    const seen = { one: await load(files.one), many: await load(files.many) }
    if (seen.one.errors + seen.many.errors > 0)
      throw new Error(`${seen.one.errors + seen.many.errors} requests of ${path} failed`)
    figures.push(
      { ...rate(`bare Bun.serve, JSON of ${path}`, bare), note: `${connections} connections` },
      { ...rate(`GET ${path}, one user`, seen.one), ...over(seen.one, bare), aim },
      { ...rate(`GET ${path}, ${people} users`, seen.many), ...over(seen.many, bare) },
      {
        bench,
        name: `GET ${path}, one user, p50`,
        value: seen.one.p50Ms,
        unit: 'ms',
        ...against(seen.one.p50Ms, bare.p50Ms, 'bare server'),
      },
    )
  }
  return figures
}

const rate = (name: string, seen: LoadResult) => ({
  bench,
  name,
  value: seen.perSecond,
  unit: 'requests/s',
})
const over = (seen: LoadResult, bare: LoadResult) => against(seen.perSecond, bare.perSecond, 'bare server')

async function bareLoad(body: string, counts: { connections: number; seconds: number }) {
  await using server = await startPlainServer(body)
  return await generateLoad({ url: server.url, ...counts })
}

async function bodyOf(url: string, session: string): Promise<string> {
  const answer = await fetch(url, { headers: { Authorization: session } })
  if (!answer.ok) throw new Error(`${url}: status ${answer.status}`)
  return answer.text()
}

const daySeconds = 86_400
const untilTomorrow = () => Math.floor(Date.now() / 1_000) + daySeconds

const newSession = () => signIn(privateKeyToAccount(generatePrivateKey()), untilTomorrow())

async function personWithTopups(stack: Stack): Promise<string> {
  const person = await verifiedUser(stack)
  for (let made = 0; made < topups; made++) await flowsEnding([await topUp(stack, person)])
  return signIn(person.account, untilTomorrow())
}
