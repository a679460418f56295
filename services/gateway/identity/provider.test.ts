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
  const tell = (
    saying: Saying,
    known?: Identity,
    environment: 'sandbox' | 'production' = 'production',
  ) => {
    const adapter = speaker.adapter('http://127.0.0.1:9', environment)
    const read = adapter.parse(speaker.say(saying, environment))
    if (!('statement' in read)) throw new Error(JSON.stringify(read))
    return decideIdentity(known, read.statement, { level, environment: 'production' })
  }

  describe('a signature', () => {
    test('over the raw body is accepted', () => {
      expect(verify(body, speaker.sign(body))).toEqual({ ok: true })
    })
    test('with the old secret is accepted during a rotation', () => {
      expect(verify(body, speaker.sign(body, { secret: secrets[1] }))).toEqual({ ok: true })
    })
    test.each<[string, () => [string, Headers]]>([
      ['that is missing', () => [body, new Headers()]],
      [
        'over a tampered body',
        () => [body.replace(wallet, `0x${'cd'.repeat(20)}`), speaker.sign(body)],
      ],
      [
        'over the same JSON written otherwise',
        () => [JSON.stringify(JSON.parse(body), null, 1), speaker.sign(body)],
      ],
      ['with another secret', () => [body, speaker.sign(body, { secret: 'somebody else' })]],
      ['with an empty secret', () => [body, speaker.sign(body, { secret: '' })]],
      ['of another algorithm', () => [body, speaker.sign(body, { algorithm: 'sha1' })]],
    ])('security: %s is refused', (_, make) => {
      expect(verify(...make())).toHaveProperty('reason')
    })
    test.each([-301_000, 301_000])(
      'security: made %d ms from now is refused where time is signed',
      (ms) => {
        const verdict = verify(body, speaker.sign(body, { atMs: nowMs + ms }))
        expect('ok' in verdict).toBe(!speaker.signsTime)
      },
    )
  })

  describe('a statement', () => {
    test('of approval verifies the wallet', () => {
      expect(tell(approval)).toMatchObject({ wallet, next: { state: 'verified' }, flag: true })
    })
    test('of rejection, later, withdraws the approval', () => {
      const approved = tell(approval) as { next: Identity }
      expect(tell(rejection, approved.next)).toMatchObject({
        next: { state: 'rejected' },
        flag: false,
      })
    })
    test('that is repeated changes nothing, under the same event id', () => {
      const approved = tell(approval) as { next: Identity }
      expect(tell(approval, approved.next)).toHaveProperty('ignored')
      expect(provider.parse(body)).toEqual(provider.parse(body))
    })
    test('that arrives after a newer one changes nothing', () => {
      const rejected = tell(rejection) as { next: Identity }
      expect(tell(approval, rejected.next)).toHaveProperty('ignored')
    })
    test.each(['customer-7', wallet.toUpperCase(), ''])(
      'about the unknown subject %p is ignored',
      (subject) => {
        expect(tell({ ...approval, subject })).toEqual({ ignored: 'unknown subject' })
      },
    )
    test('about another level is ignored', () => {
      expect(tell({ ...approval, level: 'another-level' })).toEqual({ ignored: 'other level' })
    })
    test('security: from the sandbox approves nobody in production', () => {
      expect(tell(approval, undefined, 'sandbox')).toEqual({ ignored: 'other environment' })
    })
    test.each(['', 'null', '[]', '{}', '{"data":1}', '{"type":7}', 'x'])(
      'of the form %p is a fault',
      (text) => {
        expect(provider.parse(text)).toHaveProperty('fault')
      },
    )
  })

  describe('an answer to a question', () => {
    const find = async (
      saying: Saying,
      known?: Identity,
      environment: 'sandbox' | 'production' = 'production',
    ) => {
      await using server = answering(speaker.answer(saying))
      const finding = await speaker
        .adapter(server.url, environment)
        .lookUp(wallet, new Set(['inq_2CVZ4HyVg7qaboXz2PUHknAn']))
      if (!('statement' in finding)) throw new Error('no statement was found')
      expect(JSON.stringify(finding)).not.toContain('Ratna')
      return decideIdentity(known, finding.statement, { level, environment: 'production' })
    }
    test('of approval verifies the wallet', async () => {
      expect(await find(approval)).toMatchObject({
        wallet,
        next: { state: 'verified' },
        flag: true,
      })
    })
    test('of rejection, later, withdraws what a webhook approved', async () => {
      const approved = tell(approval) as { next: Identity }
      expect(await find(rejection, approved.next)).toMatchObject({
        next: { state: 'rejected' },
        flag: false,
      })
    })
    test('changes nothing after the webhook about the same verdict, or a later one', async () => {
      const [approved, rejected] = [tell(approval), tell(rejection)] as { next: Identity }[]
      expect(await find(approval, approved!.next)).toHaveProperty('ignored')
      expect(await find(approval, rejected!.next)).toHaveProperty('ignored')
    })
    test('about another level is ignored', async () => {
      expect(await find({ ...approval, level: 'another-level' })).not.toHaveProperty('next')
    })
    test('security: with a key of the sandbox approves nobody in production', async () => {
      expect(await find(approval, undefined, 'sandbox')).toEqual({ ignored: 'other environment' })
    })
    test('security: of an inquiry that we did not create is no verdict, where anyone can open one', async () => {
      await using server = answering(speaker.answer(approval))
      const adapter = speaker.adapter(server.url, 'production')
      expect(await adapter.lookUp(wallet, new Set(['inq_of_another_user']))).toMatchObject({
        statement: { word: adapter.hasForeignInquiries ? 'none' : 'approved' },
      })
    })
    test('security: about somebody else is no answer', async () => {
      const somebody = `0x${'cd'.repeat(20)}`
      await expect(find({ ...approval, subject: somebody })).rejects.toMatchObject({
        name: 'ProviderDown',
      })
    })
  })

  test('what is kept of a webhook is read as the webhook was', () => {
    expect(provider.parse(provider.kept(body))).toEqual(provider.parse(body))
  })
  test('a provider that does not answer gives no link, and says nothing of anybody', async () => {
    const silence = 'no response from the identity provider'
    await expect(provider.createLink(wallet)).rejects.toThrow(silence)
    await expect(provider.lookUp(wallet, new Set())).rejects.toThrow(silence)
  })
})

/** The provider's API, of which only this answer is known. */
function answering(body: object) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(body) })
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) }
}
