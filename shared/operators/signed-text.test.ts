import { expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { readSignatures, type SignedCommand, signedText } from './signed-text'

const alice = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const command: SignedCommand = {
  deployment: '10143:0xc1',
  subject: 'payments.wallet.clear',
  request: { command: 'c', by: 'alice', reason: 'ticket 12', wallet: '0x1', revision: '3' },
  terms: { micro: '5', to: '0x1', seen: '3', until: '2026-11-25T02:00:00.000Z' },
}
const proven = async (signed: SignedCommand, sent: SignedCommand) => {
  const signature = await alice.signMessage({ message: signedText(signed) })
  const [read] = await readSignatures(sent, [{ by: 'alice', signature }])
  return read!.address === alice.address.toLowerCase()
}

test('a signature proves its key for the same command, in whatever order its fields come', async () => {
  const { wallet, ...rest } = command.request as Record<string, string>
  expect(await proven(command, { ...command, request: { wallet, ...rest } })).toBe(true)
})

test.each<[string, Partial<SignedCommand>]>([
  ['deployment', { deployment: '143:0xc1' }],
  ['command', { subject: 'payments.wallet.freeze' }],
  ['id', { request: { ...command.request, command: 'd' } }],
  ['target', { request: { ...command.request, wallet: '0x2' } }],
  ['reason', { request: { ...command.request, reason: 'ticket 13' } }],
  ['field more', { request: { ...command.request, check: true } }],
  ['sum', { terms: { ...command.terms, micro: '6' } }],
  ['time', { terms: { ...command.terms, until: '2027-11-25T02:00:00.000Z' } }],
])('a signature proves nothing for another %s', async (_, other) => {
  expect(await proven(command, { ...command, ...other })).toBe(false)
})

test('a text that is no signature proves no key', async () => {
  const [read] = await readSignatures(command, [{ by: 'alice', signature: `0x${'f'.repeat(130)}` }])
  expect(read).toEqual({ by: 'alice', address: undefined })
})
