import type { Guard } from '../guard'
import { always, dropped, instead, without } from '../operators'

const at = (path: string) => `services/gateway/${path}`
const identityTest = at('identity/identity.test.ts')
const refusedDelivery = { file: at('routes/webhooks.test.ts'), name: 'refuses a delivery %s' }

export const gatewayGuards: readonly Guard[] = [
  {
    guard: 'a webhook has the token that we gave the provider',
    kind: 'rights',
    by: always,
    test: { ...refusedDelivery, row: 'with a wrong token' },
  },
  {
    guard: 'a token belongs to one account',
    kind: 'rights',
    by: dropped,
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'security: fails at startup if both accounts share a token',
    },
  },
  {
    guard: "a webhook is stored once, under its sender's id",
    kind: 'key',
    by: instead("name ?? ''", 'crypto.randomUUID()'),
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'records a delivery once, even if its token is rotated between attempts',
    },
  },
  {
    guard: 'a webhook that could not be stored is refused, so that it is sent again',
    kind: 'outbox',
    by: dropped,
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'answers 503 when the delivery cannot be recorded, so that the provider retries',
    },
  },
  {
    guard: 'an identity webhook is signed by the identity provider',
    kind: 'signature',
    by: dropped,
    test: { file: at('identity/provider.test.ts'), name: 'security: %s is refused' },
  },
  {
    guard: 'a session is signed by the key of its wallet',
    kind: 'signature',
    by: without('addressOf'),
    test: { file: at('sign-in/sign-in.test.ts'), name: '%s', row: 'signed by another key' },
  },
  {
    guard: 'a session has one signature and no malleable twin',
    kind: 'signature',
    by: without('s > halfOrder'),
    test: {
      file: at('sign-in/sign-in.test.ts'),
      name: '%s',
      row: 'with the high-s twin of its signature',
    },
  },
  {
    guard: 'a session expires',
    kind: 'rights',
    by: dropped,
    test: { file: at('sign-in/session.test.ts'), name: '%s', row: 'when it expired long ago' },
  },
  {
    guard: 'a cached session opens only for its own signature',
    kind: 'signature',
    by: instead('session', "{ ...session, signature: '0x' }"),
    test: {
      file: at('sign-in/sign-in.test.ts'),
      name: 'with any other signature, even after wallet and until were proven',
    },
  },
  {
    guard: 'an approval is for our verification level',
    kind: 'decision',
    by: always,
    test: { file: identityTest, name: '%s', row: 'when it approves another level' },
  },
  {
    guard: 'a sandbox approval has no effect in production',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('identity/provider.test.ts'),
      name: 'security: from the sandbox verifies no wallet in production',
    },
  },
  {
    guard: 'the newest verdict counts, even if an older one arrives later',
    kind: 'decision',
    by: dropped,
    test: { file: identityTest, name: 'the same verdicts end in the same state in any order' },
  },
  {
    guard: 'a person has one verified wallet',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('identity/person.test.ts'),
      name: 'a second wallet of a verified person is not verified, and names the first',
    },
  },
  {
    guard: 'wallets of one person are judged one after another',
    kind: 'lock',
    by: dropped,
    test: {
      file: at('identity/person.test.ts'),
      name: 'exactly one of two wallets that are approved at once is verified, by two instances',
    },
  },
  {
    guard: 'only inquiries that we created name the wallets of a person',
    kind: 'decision',
    by: instead('await isOurs(reference, id)', 'true'),
    test: {
      file: at('identity/person.test.ts'),
      name: 'security: an inquiry that anyone opened under the wallet of another user does not make that user a duplicate',
    },
  },
  {
    guard: 'an approval waits until the provider has said who else is this person',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('identity/person.test.ts'),
      name: 'an approval waits while the question about duplicates is not answered',
    },
  },
  {
    guard: 'a wallet gets its native coin once',
    kind: 'guarded update',
    by: [without('isNull'), instead(', wallet', ', crypto.randomUUID()')],
    test: {
      file: at('identity/orders.ci.test.ts'),
      name: 'that is withdrawn and approved again is ordered each time, and dripped once',
    },
  },
  {
    guard: 'an outcome on the chain belongs to the newest order',
    kind: 'guarded update',
    by: dropped,
    test: {
      file: at('identity/orders.ci.test.ts'),
      name: 'is not withdrawn on the chain by the settlement of an earlier order',
    },
  },
]
