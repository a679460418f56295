import { expecting, seconds, step } from '#infra/compose/smoke-test/report'
import type { Stack } from '#infra/local/stack'
import type { ProcessDeath } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { booksClose } from '../support/books'
import { type Load, statesOf } from './load'

export async function endOfLoad(stack: Stack, load: Load, deaths: readonly ProcessDeath[]): Promise<void> {
  await step('no service restarted', async () => {
    const told = deaths.map(({ name, how }) => `${name} (${how})`)
    expecting(told.length === 0, told.join(', '))
    return 'none'
  })
  await step('the load ends and every accepted payment exists', async () => {
    await load[Symbol.asyncDispose]()
    expecting(load.failures.length === 0, `request failed: ${load.failures[0]}`)
    const states = await statesOf(stack, load.promised)
    const lost = load.promised.filter((id) => !states.has(id))
    expecting(lost.length === 0, `lost: ${lost.join(', ')}`)
    return `${load.promised.length} payments`
  })
  await step('every paid payment is credited', async () => {
    const startedAt = Date.now()
    const missing = async () => {
      const states = await statesOf(stack, load.paid)
      return load.paid.filter((id) => states.get(id) !== 'credited')
    }
    await waitUntil('all credits', async () => (await missing()).length === 0, 60_000, 300).catch(async () =>
      expecting(false, `not credited: ${(await missing()).join(', ')}`),
    )
    return `${load.paid.length} payments, the last after ${seconds(Date.now() - startedAt)}`
  })
  await step('the books balance', async () => {
    await booksClose(stack)
    return 'every unit is accounted for'
  })
}
