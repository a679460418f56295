import { expect, spyOn, test } from 'bun:test'
import { createWalletClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { exchange } from '#shared/client/exchange'
import { signIn } from '#shared/client/session'
import { fromWallet, signTransfer } from '#shared/client/transfer'

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

test('a transfer that a device with a slow clock signs is valid for an hour by the clock of the service, once an answer had it', async () => {
  const now = Date.now()
  const behind = spyOn(Date, 'now').mockReturnValue(now - 2 * 3_600_000)
  const fetch = async (_: string, { method }: RequestInit) => {
    const caching = method === 'GET' ? 'public, max-age=2' : 'no-store'
    return Response.json({}, { headers: { date: new Date(now).toUTCString(), 'cache-control': caching } })
  }
  const target = { baseUrl: 'https://service.example', fetch }
  const terms = { to: verifyingContract, valueMicro: 1n }
  // A cache answers a public GET with a date of its own.
  await exchange(target, { method: 'GET', path: '/config', headers: {} })
  await exchange(target, { method: 'GET', path: '/verify/0x1', headers: { authorization: 'Service' } })
  expect(Number((await signTransfer(account, domain, terms)).validBefore)).toBeLessThan(now / 1_000)
  await exchange(target, { method: 'POST', path: '/quote', headers: {}, body: '{}' })
  const { validBefore } = await signTransfer(account, domain, terms)
  behind.mockRestore()
  await exchange(target, { method: 'POST', path: '/quote', headers: {}, body: '{}' })
  expect(Math.abs(Number(validBefore) - now / 1_000 - 3_600)).toBeLessThan(5)
})

test('a browser wallet signs in and signs transfers, with or without an account of its own', async () => {
  const key = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const asked: string[] = []
  const provider = custom({
    request: async ({ method, params }) => {
      asked.push(method)
      if (method === 'personal_sign') return key.signMessage({ message: { raw: params[0] } })
      if (method === 'eth_signTypedData_v4') return key.signTypedData(JSON.parse(params[1]))
      throw new Error(`unexpected ${method}`)
    },
  })
  const own = createWalletClient({ account: key.address, transport: provider })
  const bare = createWalletClient({ transport: provider })
  for (const wallet of [fromWallet(own), fromWallet(bare, key.address)]) {
    expect(await signIn(wallet, 9)).toBe(await signIn(key, 9))
    const terms = { to: key.address, valueMicro: 1n, validBefore: 9n, nonce: `0x${'22'.repeat(32)}` } as const
    expect(await signTransfer(wallet, domain, terms)).toEqual(await signTransfer(key, domain, terms))
  }
  expect(asked).toEqual(['personal_sign', 'eth_signTypedData_v4', 'personal_sign', 'eth_signTypedData_v4'])
  expect(() => fromWallet(bare)).toThrow('pass its address')
})

test('a wallet with a key of its own signs by it, also if its address is given in lower case', async () => {
  const refusing = custom({ request: async ({ method }) => Promise.reject(new Error(`unexpected ${method}`)) })
  const wallet = createWalletClient({ account, transport: refusing })
  const signer = fromWallet(wallet, account.address.toLowerCase() as `0x${string}`)
  expect(await signIn(signer, 9)).toBe(await signIn(account, 9))
})
