import { describe, expect, test } from 'bun:test'
import { level, type Saying, secrets, speakers } from '../test-support/identity-providers'
import { nowMs } from '../test-support/wallets'
import { decideIdentity, type Identity } from './identity'

const wallet = `0x${'ab'.repeat(20)}` as const
const bytes = (text: string) => new TextEncoder().encode(text)
const approval: Saying = { verdict: 'approved', subject: wallet, occurredAtMs: nowMs - 5_000 }
const rejection: Saying = { ...approval, verdict: 'rejected', occurredAtMs: nowMs - 1_000 }

describe.each(speakers.map((speaker) => [speaker.name, speaker] as const))('%s', (_, speaker) => {
  const provider = speaker.adapter('http://127.0.0.1:9', 'production')
  const body = speaker.say(approval, 'production')
  const verify = (text: string, headers: Headers) => provider.verify(bytes(text), headers, nowMs)
  const tell = (saying: Saying, known?: Identity, environment: 'sandbox' | 'production' = 'production') => {
    const adapter = speaker.adapter('http://127.0.0.1:9', environment)
    const read = adapter.parse(speaker.say(saying, environment))
    if (!('statement' in read)) throw new Error(JSON.stringify(read))
    return decideIdentity(known, read.statement, { level, environment: 'production' })
  }

  describe('the signature of a webhook', () => {
    test('is accepted over the raw body', () => {
      expect(verify(body, speaker.sign(body))).toEqual({ ok: true })
    })
    test('is accepted with the previous secret during a rotation', () => {
      expect(verify(body, speaker.sign(body, { secret: secrets[1] }))).toEqual({ ok: true })
    })
    // guard: an identity webhook is signed by the identity provider
    test.each<[string, () => [string, Headers]]>([
      ['that is missing', () => [body, new Headers()]],
      ['over a tampered body', () => [body.replace(wallet, `0x${'cd'.repeat(20)}`), speaker.sign(body)]],
      ['over the same JSON written otherwise', () => [JSON.stringify(JSON.parse(body), null, 1), speaker.sign(body)]],
      ['with another secret', () => [body, speaker.sign(body, { secret: 'somebody else' })]],
      ['with an empty secret', () => [body, speaker.sign(body, { secret: '' })]],
      ['of another algorithm', () => [body, speaker.sign(body, { algorithm: 'sha1' })]],
    ])('security: %s is refused', (_, make) => {
      expect(verify(...make())).toHaveProperty('reason')
    })
    test.each([
      ['by a clock two hours behind, with a delay', -2.9, true],
      ['by a clock two hours ahead', 2, true],
      ['over three hours ago', -3.1, false],
      ['over three hours from now', 3.1, false],
    ])('security: made %s (%d h) is accepted: %p, if the provider signs the time', (_, hours, counts) => {
      const verdict = verify(body, speaker.sign(body, { atMs: nowMs + hours * 3_600_000 }))
      expect('ok' in verdict).toBe(counts || !speaker.signsTime)
    })
  })

  describe('a webhook', () => {
    test('with an approval verifies the wallet', () => {
      expect(tell(approval)).toMatchObject({ wallet, next: { state: 'verified' }, flag: true })
    })
    test('with a later rejection withdraws the approval', () => {
      const approved = tell(approval) as { next: Identity }
      expect(tell(rejection, approved.next)).toMatchObject({
        next: { state: 'rejected' },
        flag: false,
      })
    })
    test('delivered twice changes nothing and keeps its event id', () => {
      const approved = tell(approval) as { next: Identity }
      expect(tell(approval, approved.next)).toHaveProperty('ignored')
      expect(provider.parse(body)).toEqual(provider.parse(body))
    })
    test('that arrives after a newer one changes nothing', () => {
      const rejected = tell(rejection) as { next: Identity }
      expect(tell(approval, rejected.next)).toHaveProperty('ignored')
    })
    test.each(['customer-7', wallet.toUpperCase(), ''])('about the unknown subject %p is ignored', (subject) => {
      expect(tell({ ...approval, subject })).toEqual({ ignored: 'unknown subject' })
    })
    test('of another level is ignored', () => {
      expect(tell({ ...approval, level: 'another-level' })).toEqual({ ignored: 'other level' })
    })
    // guard: a sandbox approval has no effect in production
    test('security: from the sandbox verifies no wallet in production', () => {
      expect(tell(approval, undefined, 'sandbox')).toEqual({ ignored: 'other environment' })
    })
    test.each(['', 'null', '[]', '{}', '{"data":1}', '{"type":7}', 'x'])('with the body %p is malformed', (text) => {
      expect(provider.parse(text)).toHaveProperty('fault')
    })
  })

  describe('a look-up', () => {
    const find = async (saying: Saying, known?: Identity, environment: 'sandbox' | 'production' = 'production') => {
      await using server = answering(speaker.answer(saying))
      const finding = await speaker
        .adapter(server.url, environment)
        .lookUp(wallet, new Set(['inq_2CVZ4HyVg7qaboXz2PUHknAn']))
      if (!('statement' in finding)) throw new Error('no statement was found')
      expect(JSON.stringify(finding)).not.toContain('Ratna')
      return decideIdentity(known, finding.statement, { level, environment: 'production' })
    }
    test('that finds an approval verifies the wallet', async () => {
      expect(await find(approval)).toMatchObject({
        wallet,
        next: { state: 'verified' },
        flag: true,
      })
    })
    test('that finds a later rejection withdraws an approval by webhook', async () => {
      const approved = tell(approval) as { next: Identity }
      expect(await find(rejection, approved.next)).toMatchObject({
        next: { state: 'rejected' },
        flag: false,
      })
    })
    test('changes nothing after a webhook with the same or a later verdict', async () => {
      const [approved, rejected] = [tell(approval), tell(rejection)] as { next: Identity }[]
      expect(await find(approval, approved!.next)).toHaveProperty('ignored')
      expect(await find(approval, rejected!.next)).toHaveProperty('ignored')
    })
    test('of another level is ignored', async () => {
      expect(await find({ ...approval, level: 'another-level' })).not.toHaveProperty('next')
    })
    test('security: with a sandbox key verifies no wallet in production', async () => {
      expect(await find(approval, undefined, 'sandbox')).toEqual({ ignored: 'other environment' })
    })
    test('security: ignores an inquiry that we did not create, if users can open inquiries themselves', async () => {
      await using server = answering(speaker.answer(approval))
      const adapter = speaker.adapter(server.url, 'production')
      expect(await adapter.lookUp(wallet, new Set(['inq_of_another_user']))).toMatchObject({
        statement: { word: adapter.hasForeignInquiries ? 'none' : 'approved' },
      })
    })
    test('security: fails if the response is about another user', async () => {
      const somebody = `0x${'cd'.repeat(20)}`
      await expect(find({ ...approval, subject: somebody })).rejects.toMatchObject({
        name: 'ProviderDown',
      })
    })
  })

  test('the stored form of a webhook parses like the original', () => {
    expect(provider.parse(provider.kept(body))).toEqual(provider.parse(body))
  })
  test('no link and no finding come from a provider that does not respond', async () => {
    const silence = 'no response from the identity provider'
    await expect(provider.createLink(wallet)).rejects.toThrow(silence)
    await expect(provider.lookUp(wallet, new Set())).rejects.toThrow(silence)
  })
})

function answering(body: object) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(body) })
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) }
}
