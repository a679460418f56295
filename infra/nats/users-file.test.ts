import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { usersFile, usersPath } from '#infra/nats/users-file'

const remedy = 'out of date: bun run generate permissions'

test('users.gen.conf is up to date with the catalogue and the topology', () => {
  expect(readFileSync(usersPath, 'utf8') === usersFile() || remedy).toBe(true)
})
