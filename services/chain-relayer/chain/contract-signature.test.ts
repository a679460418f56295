import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { within } from '#platform/deadline'
import { openContractSignatures } from './contract-signature'

afterEach(() => {
  setSystemTime()
})

test('signatures of contract wallets are still verified after the clock was set back', async () => {
  const node = { call: async () => ({ reverted: undefined }) }
  const accepts = openContractSignatures({ node, ethCallsPerSecond: 10 })
  const [signer, digest] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(32)}`] as const
  const asked = { signer, digest, signature: '0x33' } as const
  expect(await accepts(asked)).toBe(false)
  setSystemTime(new Date(Date.now() - 3_600_000))
  expect(await within(accepts(asked), 3_000, 'the check')).toBe(false)
})
