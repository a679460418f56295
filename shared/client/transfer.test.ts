import { expect, spyOn, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { signTransfer } from '#shared/client/transfer'

const account = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
const verifyingContract = `0x${'a5'.repeat(20)}` as const
const domain = { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract }

test('a transfer that a device with a fast clock signed can be used at once', async () => {
  const now = Date.now()
  const ahead = spyOn(Date, 'now').mockReturnValue(now + 2 * 3_600_000)
  const { validAfter } = await signTransfer(account, domain, {
    to: verifyingContract,
    valueMicro: 1n,
  })
  ahead.mockRestore()
  expect(Number(validAfter)).toBeLessThan(now / 1_000)
})
