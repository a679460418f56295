import { expect, test } from 'bun:test'
import { banner, natsContext } from '#infra/local/banner'
import type { StackFile } from '#infra/local/stack-file'

const place = 'http://127.0.0.1:1'
const stack: StackFile = {
  gateway: place,
  ops: { gateway: place, console: place, databaseUrl: place, natsPassword: 'word' },
  sandbox: place,
  nats: {
    url: 'nats://127.0.0.1:4222',
    admin: { user: 'admin', password: 'word' },
    integrator: { user: 'integrator', password: 'x' },
    monitor: place,
  },
  postgres: { url: place },
  chain: { rpcUrl: place, chainId: 10_143, ausd: '0x1', creditLine: '0x2', treasury: '0x3' },
  webhooks: { payments: { ID: 'word', MY: 'word' }, identity: { secret: 'word' } },
  provider: { ID: { secretKey: 'word' }, MY: { secretKey: 'word' } },
  accounts: [],
  services: {},
}
const lineOf = (shown: StackFile, name: string) =>
  banner(shown, { dir: '/dir', heading: 'Ready' })
    .split('\n')
    .find((line) => line.trim().startsWith(name))
    ?.trim()

test('the banner marks only the ports that moved', () => {
  const moved = { ...stack, moved: { gateway: 3000, monitor: 8222 } }
  expect(lineOf(moved, 'gateway')).toEndWith('(3000 was taken)')
  expect(lineOf(moved, 'nats')).toEndWith(`monitor ${place}   (8222 was taken)`)
  expect(lineOf(moved, 'sandbox')).not.toContain('taken')
})

test('the banner begins with the reference app', () => {
  const first = banner(stack, { dir: '/dir', heading: 'Ready' }).split('\n')[3]
  expect(first).toContain(`${place}/app`)
})

test('the banner has the addresses of this stack for the examples of the guide', () => {
  const moved = { ...stack, chain: { ...stack.chain, rpcUrl: 'http://127.0.0.1:2' } }
  expect(lineOf(moved, 'export')).toBe(`export BASE_URL=${place} RPC_URL=http://127.0.0.1:2 SANDBOX=${place}`)
})

test('the banner shows no monitor for a NATS server without one', () => {
  const own = { ...stack, nats: { ...stack.nats, monitor: '' } }
  expect(lineOf(own, 'nats')).toEndWith(own.nats.url)
})

test('the banner shows how the NATS CLI signs in as an operator', () => {
  const signsIn = natsContext(stack)
  expect(banner(stack, { dir: '/dir', heading: 'Ready' })).toContain(signsIn)
  expect(signsIn).toContain('--user ops --password word')
})
