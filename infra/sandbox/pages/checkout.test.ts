import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const open = async (change = {}) =>
  (await fixture.call('ID', '/sessions', sessionBody(change))).json as {
    payment_session_id: string
    payment_link_url: string
  }
const read = async (url: string) => (await fetch(url)).text()
const press = async (url: string, form: Record<string, string>) =>
  (await fetch(url, { method: 'POST', body: new URLSearchParams(form) })).text()

describe('the checkout page', () => {
  test('the checkout page shows the amount, the time and the channels, without scripts', async () => {
    const { payment_link_url: url } = await open({ description: 'Top-up' })
    const reply = await fetch(url)
    const page = await reply.text()
    expect(page).toContain('Rp 150.000')
    expect(page).toContain('data-expires')
    expect(page).toMatch(/<form method="post"/)
    for (const code of ['QRIS', 'CARDS', 'DANA']) expect(page).toContain(`value="${code}"`)
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\/(?!shop\.test)/)
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test("the checkout page offers only the session's channels, and explains a limit", async () => {
    const { payment_link_url: cards } = await open({ allowed_payment_channels: ['CARDS'] })
    expect((await read(cards)).match(/type="radio"/g)).toHaveLength(1)
    const { payment_link_url: large } = await open({ amount: 60_000_000 })
    expect(await read(large)).toMatch(/value="BCA_VIRTUAL_ACCOUNT"[^>]*disabled/)
    expect(await read(large)).toContain('Up to Rp 50.000.000')
  })

  test('the checkout page pays with the chosen channel', async () => {
    const session = await open()
    const page = await press(session.payment_link_url, { channel_code: 'OVO', action: 'pay' })
    expect(page).toContain('Paid')
    expect(page).toContain('href="https://shop.test/ok"')
    const paid = (await fixture.get('ID', `/sessions/${session.payment_session_id}`)).json
    expect(paid.status).toBe('COMPLETED')
    const again = await press(session.payment_link_url, { channel_code: 'OVO', action: 'pay' })
    expect(again).toContain('Paid')
    const { payments } = await fixture.book()
    const mine = payments.filter(
      (p: { payment_session_id: string }) => p.payment_session_id === session.payment_session_id,
    )
    expect(mine).toMatchObject([{ channel_code: 'OVO', status: 'SUCCEEDED' }])
  })

  test('the checkout page declines with a message, and lets the payer try again', async () => {
    const session = await open()
    const form = { channel_code: 'CARDS', action: 'decline' }
    expect(await press(session.payment_link_url, form)).toContain('was declined')
    const read = (await fixture.get('ID', `/sessions/${session.payment_session_id}`)).json
    expect(read.status).toBe('ACTIVE')
  })

  test('the checkout page refuses a channel that the session does not offer', async () => {
    const session = await open({ allowed_payment_channels: ['CARDS'] })
    await press(session.payment_link_url, { channel_code: 'QRIS', action: 'pay' })
    const read = (await fixture.get('ID', `/sessions/${session.payment_session_id}`)).json
    expect(read.status).toBe('ACTIVE')
  })

  test('the checkout page shows that a session is expired, cancelled or unknown', async () => {
    const expired = await open()
    await fixture.control(`sessions/${expired.payment_session_id}/expire`)
    expect(await read(expired.payment_link_url)).toContain('has expired')
    const cancelled = await open()
    await fixture.call('ID', `/sessions/${cancelled.payment_session_id}/cancel`)
    expect(await read(cancelled.payment_link_url)).toContain('was cancelled')
    expect((await fetch(`${fixture.url}/checkout/ps-none`)).status).toBe(404)
  })

  test('security: the checkout page escapes all external text', async () => {
    const evil = `"><script>alert('x')</script>&`
    const { payment_link_url: url } = await open({ description: evil, reference_id: evil })
    const page = await read(`${url}?declined=${encodeURIComponent(evil)}`)
    expect(page).not.toContain('<script>alert')
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;')
  })
})
