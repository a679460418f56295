import { describe, expect, test } from 'bun:test'
import { hashMessage, recoverAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { sessionSecondsMax, signInText } from '#shared/api/session'
import { textIn } from '#shared/language/catalogue'
import { nowSeconds } from '../test-support/wallets'
import { isSignedBy, parseSession } from './session'

const wallet = `0x${'Ab'.repeat(20)}`
const signature = `0x${'1b'.repeat(65)}`
const until = String(nowSeconds + 3600)
const header = (over: { wallet?: string; until?: string; signature?: string } = {}) =>
  `Service ${over.wallet ?? wallet}.${over.until ?? until}.${over.signature ?? signature}`

test('the sign-in text has three lines, with the wallet in lower case', () => {
  expect(signInText(wallet, 1_790_000_000)).toBe(`Sign in to Service\n${wallet.toLowerCase()}\nuntil 1790000000`)
})

describe('a complete Authorization header', () => {
  test('contains wallet, until and signature, parsed in lower case', () => {
    expect(parseSession(header(), nowSeconds)).toEqual({
      session: {
        wallet: wallet.toLowerCase() as `0x${string}`,
        until: Number(until),
        signature: signature as `0x${string}`,
      },
    })
  })
  test.each([
    ['one second ahead', nowSeconds + 1],
    ['7 days ahead to the second', nowSeconds + sessionSecondsMax],
  ])('may be valid %s', (_, seconds) => {
    expect(parseSession(header({ until: String(seconds) }), nowSeconds)).toHaveProperty('session')
  })
  test('may carry the long signature of a contract wallet', () => {
    const long = `0x${'cd'.repeat(4096)}`
    expect(parseSession(header({ signature: long }), nowSeconds)).toHaveProperty('session')
  })
})

describe('an Authorization header is refused', () => {
  const shape = 'the Authorization header must be Service <wallet>.<until>.<signature>'
  const begin = 'the Authorization header must begin with Service'
  const notUnix = 'until in the session is not a unix time in seconds'
  const notHex = 'the session signature must be 0x and 130 hex digits, or more for a contract wallet'
  const notAddress = 'the session wallet is not an address'
  const ahead = 'until in the session is more than 7 days ahead'
  test.each([
    ['when there is none', null, 'the Authorization header is missing'],
    ['when it is empty', '', 'the Authorization header is missing'],
    ['when it is very long', header({ signature: `0x${'1b'.repeat(5000)}` }), 'the Authorization header is too long'],
    ['of another scheme', 'Bearer abc', begin],
    ['with a scheme in lower case', header().replace('Service', 'service'), begin],
    ['without parts', 'Service ', shape],
    ['with two parts', `Service ${wallet}.${until}`, shape],
    ['with four parts', `${header()}.1`, shape],
    ['with a prototype name for a wallet', header({ wallet: '__proto__' }), notAddress],
    ['with an upper-case 0X', header({ wallet: wallet.replace('0x', '0X') }), notAddress],
    ['with a short wallet', header({ wallet: wallet.slice(0, -1) }), notAddress],
    ['with a leading zero in until', header({ until: `0${until}` }), notUnix],
    ['with an exponent in until', header({ until: '2e9' }), notUnix],
    ['with a sign in until', header({ until: `+${until}` }), notUnix],
    ['with milliseconds in until', header({ until: `${until}000` }), notUnix],
    ['with a prototype name for until', header({ until: 'constructor' }), notUnix],
    ['when it expired this second', header({ until: String(nowSeconds) }), 'the session has expired'],
    // guard: a session expires
    ['when it expired long ago', header({ until: '1000000000' }), 'the session has expired'],
    ['a second more than 7 days ahead', header({ until: String(nowSeconds + sessionSecondsMax + 1) }), ahead],
    ['8 days ahead', header({ until: String(nowSeconds + 8 * 86_400) }), ahead],
    ['with a compact signature', header({ signature: `0x${'1b'.repeat(64)}` }), notHex],
    ['with half a byte', header({ signature: `${signature}a` }), notHex],
    ['with an upper-case 0X signature', header({ signature: signature.replace('0x', '0X') }), notHex],
    ['with a blank at the end', `${header()} `, notHex],
  ])('%s', (_, text, fault) => {
    const read = parseSession(text, nowSeconds)
    expect('fault' in read && textIn('en', [{ code: read.fault }])).toBe(`${fault}: sign in again`)
  })
})

describe('the signer of a sign-in text', () => {
  test('is the one that viem recovers, for both parities', async () => {
    const bits = new Set<string>()
    for (let turn = 0; turn < 40; turn++) {
      const account = privateKeyToAccount(generatePrivateKey())
      const own = account.address.toLowerCase() as `0x${string}`
      const text = signInText(own, turn)
      const made = await account.signMessage({ message: text })
      bits.add(made.slice(-2))
      expect(await recoverAddress({ hash: hashMessage(text), signature: made })).toBe(account.address)
      expect(isSignedBy(own, text, made)).toBe(true)
      expect(isSignedBy(own, `${text} `, made)).toBe(false)
      const other = made.endsWith('1b') ? '1c' : '1b'
      expect(isSignedBy(own, text, `${made.slice(0, -2)}${other}` as never)).toBe(false)
    }
    expect([...bits].sort()).toEqual(['1b', '1c'])
  })
  test('is unknown if r is not on the curve', () => {
    const r = '05'.repeat(32)
    const made = `0x${r}${'11'.repeat(32)}1b` as const
    expect(isSignedBy(`0x${'0'.repeat(40)}`, 'text', made)).toBe(false)
  })
})
