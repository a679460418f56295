import { expect, test } from 'bun:test'
import { openStreams } from './streams'

/** Opens streams of wallets at addresses, in order. Returns those that are left, by the name of their wallet. */
function left(limits: Parameters<typeof openStreams>[0], opened: readonly (readonly [string, string])[]): string[] {
  const { enter } = openStreams(limits)
  const open: string[] = []
  for (const [wallet, address] of opened) {
    const leave = enter({
      wallet,
      address,
      poke: () => {},
      close: () => {
        open.splice(open.indexOf(wallet), 1)
        leave()
      },
    })
    open.push(wallet)
  }
  return open
}

test.each<[string, readonly (readonly [string, string])[], string[]]>([
  [
    'one more stream of a wallet ends its oldest',
    [
      ['a', '1'],
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
    ],
    ['a', 'b', 'a'],
  ],
  [
    'a caller with many wallets gives way to one at another address',
    [
      ['a', '1'],
      ['b', '1'],
      ['c', '1'],
      ['d', '1'],
      ['e', '2'],
      ['f', '2'],
    ],
    ['c', 'd', 'e', 'f'],
  ],
  [
    'among addresses with one stream each, the oldest gives way',
    [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
      ['d', '4'],
      ['e', '5'],
    ],
    ['b', 'c', 'd', 'e'],
  ],
  [
    'a caller with many wallets ends its own streams only',
    [
      ['honest', '2'],
      ['a', '1'],
      ['b', '1'],
      ['c', '1'],
      ['d', '1'],
      ['e', '1'],
    ],
    ['honest', 'c', 'd', 'e'],
  ],
])('%s', (_, opened, expected) => {
  expect(left({ max: 4, perWallet: 2 }, opened)).toEqual(expected)
})
