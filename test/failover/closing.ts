import { expecting, seconds, step } from '#infra/compose/rehearse/report'
import type { Stack } from '#infra/local/stack'
import type { Death } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { booksClose } from '../support/books'
import { type Load, statesOf } from './load'

/**
 * Ends the load, and holds that no service had to be started again, that nothing that was answered is
 * lost, and that the money closes.
 */
export async function endOfLoad(stack: Stack, load: Load, deaths: readonly Death[]): Promise<void> {
  await step('no service ended meanwhile', async () => {
    const told = deaths.map(({ name, how }) => `${name} (${how})`)
    expecting(told.length === 0, told.join(', '))
    return 'none did'
  })
  await step('the load ends: whatever was answered is there', async () => {
    await load[Symbol.asyncDispose]()
    expecting(load.failures.length === 0, `gave up: ${load.failures[0]}`)
    const states = await statesOf(stack, load.promised)
    const lost = load.promised.filter((id) => !states.has(id))
    expecting(lost.length === 0, `lost: ${lost.join(', ')}`)
    return `${load.promised.length} payments`
  })
  await step('everybody who paid is credited', async () => {
    const startedAt = Date.now()
    const missing = async () => {
      const states = await statesOf(stack, load.paid)
      return load.paid.filter((id) => states.get(id) !== 'credited')
    }
    await waitUntil('every credit', async () => (await missing()).length === 0, 60_000, 300).catch(
      async () => expecting(false, `not credited: ${(await missing()).join(', ')}`),
    )
    return `${load.paid.length} payments, the last after ${seconds(Date.now() - startedAt)}`
  })
  await step('the books close', async () => {
    await booksClose(stack)
    return 'every unit is where they say'
  })
}
