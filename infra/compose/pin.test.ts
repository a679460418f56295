import { expect, test } from 'bun:test'
import { pinned, unpinnedIn } from './pin'

const digest = (letter: string) => `sha256:${letter.repeat(64)}`
const text = `FROM oven/bun:1.4.5-alpine AS build
services:
  own:
    image: ausd-credit-backend:\${IMAGE_TAG:-local}
  nats:
    image: nats:2.14.9-alpine
  postgres:
    image: postgres:18.6-alpine@${digest('0')}
spec:
  imageName: ghcr.io/cloudnative-pg/postgresql:18.6
`

test('lists the images of others that have no digest', () => {
  expect(unpinnedIn(text)).toEqual([
    'oven/bun:1.4.5-alpine',
    'nats:2.14.9-alpine',
    'ghcr.io/cloudnative-pg/postgresql:18.6',
  ])
})

test('writes the digest of each tag, also in place of an earlier one, and repeats itself', async () => {
  const digestOf = async (name: string) => digest(name.startsWith('postgres') ? 'b' : 'a')
  const once = await pinned(text, digestOf)
  expect(unpinnedIn(once)).toEqual([])
  expect(once).toContain(`FROM oven/bun:1.4.5-alpine@${digest('a')} AS build\n`)
  expect(once).toContain(`image: postgres:18.6-alpine@${digest('b')}\n`)
  expect(once).toContain(`image: ausd-credit-backend:\${IMAGE_TAG:-local}\n`)
  expect(await pinned(once, digestOf)).toBe(once)
})

test('writes nothing if the registry names no digest', async () => {
  await expect(pinned(text, async () => '')).rejects.toThrow('oven/bun:1.4.5-alpine: no digest')
})
