import { expect, test } from 'bun:test'
import { freshSecret } from './keys'

test('a fresh secret has no character that a shell or a flag of a command reads as something else', () => {
  const secrets = Array.from({ length: 500 }, () => freshSecret())
  expect(secrets.filter((secret) => !/^[0-9a-f]{48}$/.test(secret))).toEqual([])
  expect(new Set(secrets).size).toBe(500)
})
