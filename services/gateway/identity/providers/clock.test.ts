import { afterAll, describe, expect, test } from 'bun:test'
import { speakers } from '../../test-support/identity-providers'
import { nowMs } from '../../test-support/wallets'
import { accessSignature } from './sumsub/client'

const wallet = `0x${'ab'.repeat(20)}` as const
const hour = 3_600_000

/** Server in the role of Sumsub, which answers "nobody" to each signed request. */
const theirs = { aheadMs: 0, asked: 0 }
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    theirs.asked++
    const { pathname, search } = new URL(request.url)
    const ts = request.headers.get('x-app-access-ts')!
    const target = pathname + search
    const body = await request.text()
    const isSigned =
      request.headers.get('x-app-access-sig') === accessSignature('api-secret', ts, request.method, target, body)
    const theirMs = nowMs + theirs.aheadMs
    const headers = { Date: new Date(theirMs).toUTCString() }
    if (!isSigned || Math.abs(Number(ts) * 1000 - theirMs) > 60_000)
      return Response.json({ code: 401 }, { status: 401, headers })
    return request.method === 'POST'
      ? Response.json({ url: 'https://in.sumsub.com/websdk/p/x' }, { headers })
      : Response.json({ code: 404 }, { status: 404, headers })
  },
})
afterAll(() => server.stop(true))
const open = () => {
  theirs.asked = 0
  return speakers[0]!.adapter(server.url.origin, 'sandbox')
}

describe("a difference from Sumsub's clock", () => {
  test.each([2, -2])('of %d hours costs one refused request, not the answers', async (hours) => {
    theirs.aheadMs = hours * hour
    const sumsub = open()
    const ask = () => sumsub.lookUp(wallet, new Set())
    expect(await ask()).toEqual({ nobody: true })
    expect(theirs.asked).toBe(2)
    expect((await sumsub.createLink(wallet)).url).toBe('https://in.sumsub.com/websdk/p/x')
    expect(theirs.asked).toBe(3)
    theirs.aheadMs = 0
    expect(await ask()).toEqual({ nobody: true })
    expect(theirs.asked).toBe(5)
  })

  test('of zero repeats no refused request', async () => {
    theirs.aheadMs = 0
    const sumsub = speakers[0]!.adapter(`${server.url.origin}/elsewhere`, 'sandbox')
    theirs.asked = 0
    await expect(sumsub.lookUp(wallet, new Set())).rejects.toMatchObject({ name: 'ProviderDown' })
    expect(theirs.asked).toBe(1)
  })
})
