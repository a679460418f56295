import { expect, test } from 'bun:test'
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, numberToHex } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { decodeArgs, followedTopics } from './event'

const samples: Record<string, unknown> = {
  address: '0x9B2eF1C1A7f0E3d2C4b5A6978877665544332211'.toLowerCase(),
  bytes32: numberToHex(77, { size: 32 }),
  bool: true,
  uint8: 3,
  uint256: 2n ** 255n + 9n,
}
const abiEvents = (creditLineAbi as readonly { type: string }[]).filter((item) => item.type === 'event') as AbiEvent[]
const encoded = abiEvents.flatMap((item) => {
  const args = Object.fromEntries(item.inputs.map(({ name, type }) => [name, samples[type]]))
  if (Object.values(args).includes(undefined)) return []
  const words = item.inputs.filter((input) => !input.indexed)
  const topics = encodeEventTopics({ abi: [item], args } as never) as string[]
  const data = encodeAbiParameters(
    words,
    words.map((input) => args[input.name!]),
  )
  return [{ name: item.name, args, topics, data }]
})
const followed = encoded.filter(({ topics }) => followedTopics.includes(topics[0]!))
const followedNames = new Set(followed.map(({ name }) => name))

test.each(followed)('$name is decoded as viem encodes it', ({ name, args, topics, data }) => {
  const texts = Object.entries(args).map(([key, value]) => [key, typeof value === 'boolean' ? value : String(value)])
  expect(decodeArgs(topics, data)).toEqual({ name, args: Object.fromEntries(texts) } as never)
})

test('the reader follows every event but those of the roles and of calls without effect', () => {
  const others = abiEvents.map(({ name }) => name).filter((name) => !followedNames.has(name))
  expect(others.sort()).toEqual([
    'AlreadyApplied',
    'OpFailed',
    'Paused',
    'RoleAdminChanged',
    'RoleGranted',
    'RoleRevoked',
    'Unpaused',
  ])
})

test('other events are skipped', () => {
  expect(decodeArgs([numberToHex(1, { size: 32 })], '0x')).toBeNull()
})

test.each([
  ['a topic short', 1, 0],
  ['a word short', 0, 64],
])('a log that is %s is refused', (_what, topicsLess, digitsLess) => {
  const { topics, data } = followed.find(({ name }) => name === 'Drawn')!
  const cut = data.slice(0, data.length - digitsLess)
  expect(() => decodeArgs(topics.slice(0, topics.length - topicsLess), cut)).toThrow(/length/)
})
