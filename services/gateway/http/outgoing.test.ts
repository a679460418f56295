import { expect, test } from 'bun:test'
import { openOutgoing, streamedFromBytes } from './outgoing'

const body = (letter: string, bytes: number) => letter.repeat(bytes)
const textOf = (sent: string | Response) => (sent as Response).text()

test('a small body is sent as it is, and a large one arrives whole in chunks', async () => {
  const send = openOutgoing(1_000_000)
  const small = body('a', streamedFromBytes - 1)
  expect(send(small)).toBe(small)
  const text = `${body('é', 70_000)}.`
  const large = send(text) as Response
  expect(large.headers.get('connection')).toBe('close')
  expect(await large.text()).toBe(text)
})

test('a body is large by its bytes, not its characters', () => {
  expect(openOutgoing()(body('é', streamedFromBytes / 2))).toBeInstanceOf(Response)
})

test('security: beyond the limit, the body that has waited longest is dropped, and no other', async () => {
  const send = openOutgoing(300_000)
  const [first, second, third] = ['a', 'b', 'c'].map((letter) => send(body(letter, 100_000)))
  const fourth = send(body('d', 100_000))
  await expect(textOf(first!)).rejects.toThrow('slow reader dropped')
  for (const [sent, letter] of [
    [second!, 'b'],
    [third!, 'c'],
    [fourth, 'd'],
  ] as const)
    expect(await textOf(sent)).toBe(body(letter, 100_000))
})

test('a body that was taken, or whose client has left, no longer counts', async () => {
  const send = openOutgoing(250_000)
  const stays = send(body('a', 100_000))
  for (let round = 0; round < 5; round++) await textOf(send(body('b', 100_000)))
  for (let round = 0; round < 5; round++) await (send(body('c', 100_000)) as Response).body!.cancel()
  expect(await textOf(stays)).toBe(body('a', 100_000))
})

test('a single body above the limit is still sent', async () => {
  expect(await textOf(openOutgoing(50_000)(body('a', 100_000)))).toHaveLength(100_000)
})
