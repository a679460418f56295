import { describe, expect, test } from 'bun:test'
import type { Worth } from '#shared/messages/operator-commands'
import { type AskedCommand, approvalMs, mayPerform, type ReadSignature, termsOf } from './may-perform'

const nowMs = Date.parse('2026-11-24T02:00:00.000Z')
const address = (digit: string) => `0x${digit.repeat(40)}` as const
const operators = [
  { name: 'alice', address: address('a') },
  { name: 'bob', address: address('b') },
]
const rules = { operators, aboveMicro: 100_000_000n, nowMs }
const worth = (ausd: number | null, more: Partial<Worth> = {}): Worth => ({
  micro: ausd === null ? null : BigInt(ausd) * 1_000_000n,
  to: address('1'),
  seen: 'revision 3',
  ...more,
})
const [alice, bob] = operators.map(({ name: by, address }): ReadSignature => ({ by, address }))
const carol: ReadSignature = { by: 'carol', address: address('c') }

type Case = [string, Partial<AskedCommand> & { by?: string }, ReadSignature[] | undefined, unknown]
const asked = (
  { worth: of = worth(50), ...more }: Partial<AskedCommand>,
  signatures?: ReadSignature[],
): AskedCommand => ({
  by: 'alice',
  worth: of,
  aloneMicro: 0n,
  signed: signatures && { terms: termsOf(of, nowMs - 1_000), signatures },
  ...more,
})
const may = { may: true }

describe('a command is performed if enough operators signed what it gives away', () => {
  test.each<Case>([
    ['nothing signed, below', {}, undefined, { needs: 1 }],
    ['nothing signed, above', { worth: worth(101) }, undefined, { needs: 2 }],
    ['one, below', {}, [alice!], may],
    ['one, exactly the limit', { worth: worth(100) }, [alice!], may],
    // guard: a sum above the limit needs two operators
    ['one, above', { worth: worth(101) }, [alice!], { needs: 2 }],
    ['two, above', { worth: worth(101) }, [alice!, bob!], may],
    ['two, below', {}, [alice!, bob!], may],
    ['one, an unknown sum', { worth: worth(null) }, [alice!], { needs: 2 }],
    ['two, an unknown sum', { worth: worth(null) }, [alice!, bob!], may],
    ['one, with what was given alone exactly the limit', { aloneMicro: 50_000_000n }, [alice!], may],
    ['one, with what was given alone above', { aloneMicro: 50_000_001n }, [alice!], { needs: 2 }],
    ['two, with what was given alone above', { aloneMicro: 50_000_001n }, [alice!, bob!], may],
    ['one, nothing given, much given alone', { worth: worth(0), aloneMicro: 500_000_000n }, [alice!], may],
  ])('%s', (_, more, signatures, outcome) => {
    expect(mayPerform(asked(more, signatures), rules)).toEqual(outcome as never)
  })
})

describe('a command is refused, however small, for', () => {
  const stale = (until: number) => ({
    terms: { ...termsOf(worth(50), nowMs), until: new Date(until).toISOString() },
    signatures: [alice!],
  })
  test.each<[string, Partial<AskedCommand>, ReadSignature[] | undefined, RegExp]>([
    ['the same operator twice', { worth: worth(101) }, [alice!, alice!], /^alice signed twice: another operator/],
    ['a stranger', {}, [carol], /^carol is not an operator/],
    // guard: a signature counts only for its operator, command, sum, state and time
    ['a second operator who was removed', { worth: worth(101) }, [alice!, carol], /^carol is not an operator/],
    [
      'a signature by the key of another',
      {},
      [{ ...alice!, address: bob!.address }],
      /^the signature of alice is not by/,
    ],
    [
      'a second one by the key of the first',
      {},
      [alice!, { ...bob!, address: alice!.address }],
      /^the signature of bob is not by/,
    ],
    ['a signature that is none', {}, [{ by: 'alice', address: undefined }], /^the signature of alice is not by/],
    ['another name in the request', { by: 'bob' }, [alice!], /^the command is by bob, but alice signed it first/],
    ['the second operator’s name in the request', { by: 'bob' }, [alice!, bob!], /^the command is by bob, but alice/],
    [
      'signatures whose time is over',
      { signed: stale(nowMs) },
      undefined,
      /^its signatures counted until 2026-11-24T02:00/,
    ],
    [
      'a time that is none',
      { signed: { terms: { ...termsOf(worth(50), nowMs), until: 'later' }, signatures: [alice!] } },
      undefined,
      /^its signatures counted until later/,
    ],
    [
      'signatures for longer than a day',
      { signed: stale(nowMs + approvalMs + 60_001) },
      undefined,
      /^signatures cannot count until/,
    ],
    [
      'a greater sum than was signed',
      { signed: { terms: termsOf(worth(49), nowMs), signatures: [alice!] } },
      undefined,
      /has changed since it was signed, and now gives/,
    ],
    [
      'a smaller sum than was signed',
      { signed: { terms: termsOf(worth(51), nowMs), signatures: [alice!] } },
      undefined,
      /has changed since it was signed/,
    ],
    [
      'a sum that was unknown',
      { signed: { terms: termsOf(worth(null), nowMs), signatures: [alice!] } },
      undefined,
      /has changed since/,
    ],
    [
      'another wallet',
      { signed: { terms: termsOf(worth(50, { to: address('2') }), nowMs), signatures: [alice!] } },
      undefined,
      /has changed since/,
    ],
    [
      'another state',
      { signed: { terms: termsOf(worth(50, { seen: 'revision 2' }), nowMs), signatures: [alice!] } },
      undefined,
      /has changed since/,
    ],
  ])('%s', (_, more, signatures, words) => {
    expect(mayPerform(asked(more, signatures), rules)).toEqual({ refused: expect.stringMatching(words) })
  })
})

test('a deployment that names no operators performs every command, signed or not', () => {
  const open = { ...rules, operators: [] }
  expect(mayPerform(asked({ worth: worth(null) }), open)).toEqual({ may: true })
  expect(mayPerform(asked({ worth: worth(101) }, [carol]), open)).toEqual({ may: true })
})

test('the terms of a command count for a day', () => {
  expect(termsOf(worth(50), nowMs)).toEqual({
    micro: '50000000',
    to: address('1'),
    seen: 'revision 3',
    until: '2026-11-25T02:00:00.000Z',
  })
})
