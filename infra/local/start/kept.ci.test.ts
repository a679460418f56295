import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outsideOf } from '#infra/demo/external'
import { personOf } from '#infra/demo/person'
import { keptChainDir } from '#infra/local/chain'
import { devAccount } from '#infra/local/keys'
import { freePort } from '#infra/local/ports'
import { bootStack, type Stack, type StackOptions } from '#infra/local/stack'
import type { StackPart } from '#infra/local/stack-file'
import { migratedCluster } from '#test/support/engines/cluster'
import { topUp } from '#test/support/flows'
import { childrenOf } from '#test/support/processes'
import { quickChecks } from '#test/support/settings'
import { type DataPlan, discardKept, readKept } from './kept'

const dir = mkdtempSync(join(tmpdir(), 'kept-'))
afterAll(() => {
  discardKept(dir)
  rmSync(dir, { recursive: true, force: true })
})

const boot = async (data: DataPlan, more: Partial<StackOptions> = {}) => {
  const cluster = await migratedCluster()
  return bootStack({
    dir,
    data,
    cluster,
    ports: 'free',
    durable: false,
    env: quickChecks,
    ...more,
  })
}

const { privateKey } = devAccount('a user who comes back')

async function toppedUp(stack: Stack): Promise<bigint> {
  const person = personOf(stack.info, privateKey)
  const before = BigInt((await person.me()).collateral.value)
  await topUp(stack, person)
  return person.until('the credit', ({ collateral }) => {
    const value = BigInt(collateral.value)
    return value > before && value
  })
}

test('start --keep continues with the data, a plain start discards it, and a taken port is replaced', async () => {
  let credited = 0n
  {
    // Another program takes each port between choosing and binding, once.
    using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    const tried: string[] = []
    const choosePort = async (part: StackPart) => {
      if (tried.includes(part)) return freePort()
      tried.push(part)
      return other.port
    }
    await using stack = await boot('leave', { choosePort })
    expect(tried.toSorted()).toEqual(['chain', 'gateway', 'monitor', 'nats', 'ops', 'postgres', 'sandbox'].toSorted())
    const person = personOf(stack.info, privateKey)
    await person.me()
    await outsideOf(stack.info).identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified)
    credited = await toppedUp(stack)
  }
  {
    await using stack = await boot('continue')
    const me = await personOf(stack.info, privateKey).me()
    expect(me).toMatchObject({ verified: true, collateral: { value: credited.toString() } })
    const chain = stack.process('chain')
    const [anvil] = childrenOf(chain.pid())
    process.kill(anvil!, 'SIGKILL')
    expect(await toppedUp(stack)).toBeGreaterThan(credited)
    chain.kill('SIGKILL')
    const { items } = (await personOf(stack.info, privateKey).get('/me/activity')).body
    expect(items).toHaveLength(2)
  }
  const home = readKept(dir)?.postgresHome
  expect(existsSync(home!)).toBe(true)
  truncateSync(join(keptChainDir(dir), 'snapshot.json.gz'), 100)
  await expect(boot('continue')).rejects.toThrow('is damaged')
  rmSync(keptChainDir(dir), { recursive: true })
  await expect(boot('continue')).rejects.toThrow('the chain of the last run is missing')
  expect(existsSync(home!)).toBe(true)
  {
    await using stack = await boot(undefined)
    const me = await personOf(stack.info, privateKey).me()
    expect(me).toMatchObject({ verified: false, collateral: { value: '0' } })
  }
  expect(readKept(dir)).toBeUndefined()
  expect([existsSync(home!), existsSync(join(dir, 'postgres'))]).toEqual([false, false])
})
