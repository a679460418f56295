import { describe, expect, test } from 'bun:test'
import { signInText } from '#shared/api/session'
import { openLimiter } from '../http/limit'
import { askOf, contextOf, okay, type Replies, refusing, usersInMemory } from '../test-support/fixture'
import { ana, budi, headerOf, nowMs, nowSeconds, tomorrow, walletOf } from '../test-support/wallets'
import { openSignIn } from './sign-in'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const notTheirs = 'the session was not signed by its wallet: sign in again'
const foreign: Replies = { 'chain.signature.check': okay({ valid: false }) }

function open(replies: Replies = foreign, perMinute = 1_000) {
  const time = { ms: nowMs }
  const clock = () => time.ms
  const { ask, asked } = askOf(replies)
  const users = usersInMemory()
  const limiter = openLimiter({ perMinute, clock })
  const signIn = openSignIn(contextOf({ ask, users, clock }), limiter)
  return { time, asked, users, enter: (header: string | null) => signIn(header, '203.0.113.7') }
}

/** Returns the malleable twin of a session: (r, n - s) with v inverted recovers to the same key. */
async function twinOf(until: number): Promise<string> {
  const signature = await ana.signMessage({ message: signInText(ana.address, until) })
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
}

describe('a session signed by its wallet', () => {
  test('admits the wallet and creates the user', async () => {
    const { enter, users, asked } = open()
    expect(await enter(await headerOf(ana))).toBe(walletOf(ana))
    expect([...users.rows.keys()]).toEqual([walletOf(ana)])
    expect(asked).toEqual([])
  })
  test('is the same user in any case of the wallet', async () => {
    const { enter, users } = open()
    for (const wallet of [ana.address, walletOf(ana), `0x${ana.address.slice(2).toUpperCase()}`])
      expect(await enter(await headerOf(ana, tomorrow, { wallet }))).toBe(walletOf(ana))
    expect(users.rows.size).toBe(1)
  })
  test('may give v as 0 or 1', async () => {
    const signature = await ana.signMessage({ message: signInText(ana.address, tomorrow) })
    const bare = `${signature.slice(0, 130)}${signature.endsWith('1b') ? '00' : '01'}`
    expect(await open().enter(await headerOf(ana, tomorrow, { signature: bare }))).toBe(walletOf(ana))
  })
  test('is remembered, but not after its until', async () => {
    const { enter, time } = open()
    const header = await headerOf(ana, nowSeconds + 60)
    await enter(header)
    time.ms += 61_000
    await expect(enter(header)).rejects.toThrow('the session has expired: sign in again')
  })
})

describe('security: a session is refused', () => {
  test.each([
    // guard: a session is signed by the key of its wallet
    ['signed by another key', () => headerOf(budi, tomorrow, { wallet: ana.address })],
    ['with another until than the one signed', () => headerOf(ana, tomorrow, { until: String(tomorrow + 1) })],
    // guard: a session has one signature and no malleable twin
    [
      'with the high-s twin of its signature',
      async () => headerOf(ana, tomorrow, { signature: await twinOf(tomorrow) }),
    ],
    ['with v 29', async () => (await headerOf(ana)).replace(/1[bc]$/, '1d')],
    ['with a zero r', () => headerOf(ana, tomorrow, { signature: `0x${'00'.repeat(32)}${'11'.repeat(32)}1b` })],
    ['with a zero s', () => headerOf(ana, tomorrow, { signature: `0x${'11'.repeat(32)}${'00'.repeat(32)}1b` })],
    [
      'with 65 bytes that are no point',
      () => headerOf(ana, tomorrow, { signature: `0x${'05'.repeat(32)}${'11'.repeat(32)}1b` }),
    ],
    [
      'over another text',
      async () => headerOf(ana, tomorrow, { signature: await ana.signMessage({ message: 'hello' }) }),
    ],
  ])('%s', async (_, header) => {
    const { enter, users } = open()
    await expect(enter(await header())).rejects.toThrow(notTheirs)
    await enter(await header()).catch(() => {})
    expect(users.rows.size).toBe(0)
  })

  // guard: a cached session opens only for its own signature
  test('with any other signature, even after wallet and until were proven', async () => {
    const { enter } = open()
    await enter(await headerOf(ana))
    const forged = `0x${'22'.repeat(64)}1b`
    await expect(enter(await headerOf(ana, tomorrow, { signature: forged }))).rejects.toThrow(notTheirs)
    const twin = await headerOf(ana, tomorrow, { signature: await twinOf(tomorrow) })
    await expect(enter(twin)).rejects.toThrow(notTheirs)
  })
  test('and takes one token of its address, so that guessing ends in 429', async () => {
    const { enter } = open(foreign, 3)
    for (const until of [1, 2, 3])
      await enter(await headerOf(budi, tomorrow + until, { wallet: ana.address })).catch(() => {})
    await expect(enter(await headerOf(budi, tomorrow, { wallet: ana.address }))).rejects.toMatchObject({
      status: 429,
    })
  })
  test('and remembered as refused, so that a retry makes no chain call', async () => {
    const { enter, asked } = open()
    const header = await headerOf(budi, tomorrow, { wallet: ana.address })
    for (let attempt = 0; attempt < 3; attempt++) await enter(header).catch(() => {})
    expect(asked).toHaveLength(1)
  })
})

describe('a full session cache evicts only the oldest', () => {
  test('of 10,000 refused sessions', async () => {
    const sessions = 10_001
    const { enter, asked } = open(foreign, sessions + 3)
    const header = (session: number) => `Service ${ana.address}.${tomorrow}.0x${String(session).padStart(128, '0')}1d`
    for (let session = 1; session <= sessions; session++) await enter(header(session)).catch(() => {})
    await expect(enter(header(2))).rejects.toThrow(notTheirs)
    await expect(enter(header(sessions))).rejects.toThrow(notTheirs)
    expect(asked).toHaveLength(sessions)
    await expect(enter(header(1))).rejects.toThrow(notTheirs)
    expect(asked).toHaveLength(sessions + 1)
  })
  test('of 50,000 proven sessions', async () => {
    const sessions = 50_001
    const valid: Replies = { 'chain.signature.check': okay({ valid: true }) }
    const { enter, asked } = open(valid, sessions + 1)
    const header = (session: number) =>
      `Service 0x${String(session).padStart(40, '0')}.${tomorrow}.0x${'77'.repeat(130)}`
    for (let session = 1; session <= sessions; session++) await enter(header(session))
    await enter(header(2))
    await enter(header(sessions))
    expect(asked).toHaveLength(sessions)
    await enter(header(1))
    expect(asked).toHaveLength(sessions + 1)
  })
})

test('security: sessions with signatures of 4 KiB take as little memory as others', async () => {
  const sessions = 1_500
  const valid: Replies = { 'chain.signature.check': okay({ valid: true }) }
  const heldBytes = () => {
    Bun.gc(true)
    return process.memoryUsage().heapUsed
  }
  const tail = 'AB'.repeat(4_090) // Parsing lowercases the signature, so the cached text is a copy.
  for (const replies of [valid, foreign]) {
    const { enter, asked } = open(replies, sessions)
    const before = heldBytes()
    const again = async (session: number) => {
      const signature = `0x${String(session).padStart(12, '0')}${tail}`
      await enter(`Service ${ana.address}.${tomorrow - session}.${signature}`).catch(() => {})
    }
    for (let session = 1; session <= sessions; session++) {
      await again(session)
      asked.length = 0
    }
    expect(heldBytes() - before).toBeLessThan(4_000_000) // 1,500 signatures take 12 MB as text.
    await again(1)
    expect(asked).toEqual([])
  }
})

describe('a contract wallet', () => {
  const contract = `0x${'c0'.repeat(20)}` as const
  const header = `Service ${contract}.${tomorrow}.0x${'77'.repeat(130)}`
  test('is admitted when its contract accepts the signature, and checked again later', async () => {
    const { enter, asked, time } = open({ 'chain.signature.check': okay({ valid: true }) })
    expect(await enter(header)).toBe(contract)
    await enter(header)
    expect(asked).toEqual([
      [
        'chain.signature.check',
        {
          wallet: contract,
          text: signInText(contract, tomorrow),
          signature: `0x${'77'.repeat(130)}`,
        },
      ],
    ])
    time.ms += 60_000
    await enter(header)
    expect(asked).toHaveLength(2)
  })
  test.each([
    ['with v 31, as a Safe expects of eth_sign', `0x${'77'.repeat(64)}1f`],
    ['with v 32', `0x${'77'.repeat(64)}20`],
    ['with a high s', `0x${'77'.repeat(32)}${'ff'.repeat(32)}1b`],
    ['with an r that is no number of the curve', `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
    ['with a zero r and s', `0x${'00'.repeat(64)}01`],
  ])('is admitted by 65 bytes %s, if its contract accepts them', async (_, signature) => {
    const { enter } = open({ 'chain.signature.check': okay({ valid: true }) })
    expect(await enter(`Service ${contract}.${tomorrow}.${signature}`)).toBe(contract)
  })
  test.each([
    ['the chain cannot be read', { 'chain.signature.check': refusing('chain_unavailable') }],
    ['no service reads the chain', {}],
  ])('security: is not admitted while %s', async (_, replies) => {
    const { enter, users } = open(replies)
    await expect(enter(header)).rejects.toThrow()
    expect(users.rows.size).toBe(0)
  })
})
