import { edit, type Guard } from '../guard'

const at = (path: string) => `services/gateway/${path}`
const webhooks = at('routes/webhooks.ts')
const identity = { source: at('identity/identity.ts'), test: at('identity/identity.test.ts') }
const refusedDelivery = { file: at('routes/webhooks.test.ts'), name: 'refuses a delivery %s' }

export const gatewayGuards: readonly Guard[] = [
  {
    guard: 'a webhook has the token that we gave the provider',
    kind: 'rights',
    edits: [
      edit(
        webhooks,
        'timingSafeEqual(token.digest, given)',
        'timingSafeEqual(token.digest, token.digest) && given',
      ),
    ],
    test: { ...refusedDelivery, row: 'with a wrong token' },
  },
  {
    guard: 'a token belongs to one account',
    kind: 'rights',
    edits: [
      edit(
        webhooks,
        "if (shared) throw new Error('a callback token must belong to one account only')",
        'void shared',
      ),
    ],
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'security: fails at startup if both accounts share a token',
    },
  },
  {
    guard: "a webhook is stored once, under its sender's id",
    kind: 'key',
    edits: [edit(webhooks, `\${source}:\${name ?? ''}:`, `\${source}:\${crypto.randomUUID()}:`)],
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'records a delivery once, even if its token is rotated between attempts',
    },
  },
  {
    guard: 'a webhook that could not be stored is refused, so that it is sent again',
    kind: 'outbox',
    edits: [
      edit(
        webhooks,
        "throw new Refused(503, [{ code: 'delivery_unrecorded' }], 5)",
        "return 'stored' as const",
      ),
    ],
    test: {
      file: at('routes/webhooks.test.ts'),
      name: 'answers 503 when the delivery cannot be recorded, so that the provider retries',
    },
  },
  {
    guard: 'an identity webhook is signed by the identity provider',
    kind: 'signature',
    edits: [
      edit(
        at('identity/providers/sumsub/webhook.ts'),
        "if (!signedByAny(secrets, algorithm, [body], digest)) return { reason: 'the digest is wrong' }",
        'void [signedByAny, secrets, body]',
      ),
    ],
    test: { file: at('identity/provider.test.ts'), name: 'security: %s is refused' },
  },
  {
    guard: 'a session is signed by the key of its wallet',
    kind: 'signature',
    edits: [edit(at('sign-in/session.ts'), ' && addressOf(key) === wallet', '')],
    test: { file: at('sign-in/sign-in.test.ts'), name: '%s', row: 'signed by another key' },
  },
  {
    guard: 'a session has one signature and no malleable twin',
    kind: 'signature',
    edits: [edit(at('sign-in/session.ts'), '|| s > halfOrder', '')],
    test: {
      file: at('sign-in/sign-in.test.ts'),
      name: '%s',
      row: 'with the high-s twin of its signature',
    },
  },
  {
    guard: 'a session expires',
    kind: 'rights',
    edits: [
      edit(
        at('sign-in/session.ts'),
        "if (Number(until) <= nowSeconds) return { fault: 'session_expired' }",
        '',
      ),
    ],
    test: { file: at('sign-in/session.test.ts'), name: '%s', row: 'when it expired long ago' },
  },
  {
    guard: 'a cached session opens only for its own signature',
    kind: 'signature',
    edits: [
      edit(
        at('sign-in/sign-in.ts'),
        'const key = digestOf(session)',
        "const key = digestOf({ ...session, signature: '0x' })",
      ),
    ],
    test: {
      file: at('sign-in/sign-in.test.ts'),
      name: 'with any other signature, even after wallet and until were proven',
    },
  },
  {
    guard: 'an approval is for our verification level',
    kind: 'decision',
    edits: [
      edit(
        identity.source,
        'level === policy.level || (level === null && !isApproval(word))',
        'policy.level !== word',
      ),
    ],
    test: { file: identity.test, name: '%s', row: 'when it approves another level' },
  },
  {
    guard: 'a sandbox approval has no effect in production',
    kind: 'decision',
    edits: [
      edit(
        identity.source,
        "if (!environmentFits(statement, policy)) return { ignored: 'other environment' }",
        'void environmentFits',
      ),
    ],
    test: {
      file: at('identity/provider.test.ts'),
      name: 'security: from the sandbox verifies no wallet in production',
    },
  },
  {
    guard: 'the newest verdict counts, even if an older one arrives later',
    kind: 'decision',
    edits: [
      edit(
        identity.source,
        "if (known && !isNewer(known, statement)) return { ignored: 'older than the verdict we have' }",
        'void isNewer',
      ),
    ],
    test: { file: identity.test, name: 'the same verdicts end in the same state in any order' },
  },
  {
    guard: 'a person has one verified wallet',
    kind: 'decision',
    edits: [
      edit(
        at('identity/person.ts'),
        'if (first) return { sameAs: first.wallet }',
        'void byFirst && first',
      ),
    ],
    test: {
      file: at('identity/person.test.ts'),
      name: 'a second wallet of a verified person is not verified, and names the first',
    },
  },
  {
    guard: 'wallets of one person are judged one after another',
    kind: 'lock',
    edits: [
      edit(at('identity/person.store.ts'), "  await lockNamed(tx, 'identity persons')\n", ''),
    ],
    test: {
      file: at('identity/person.test.ts'),
      name: 'exactly one of two wallets that are approved at once is verified, by two instances',
    },
  },
  {
    guard: 'only inquiries that we created name the wallets of a person',
    kind: 'decision',
    edits: [
      edit(
        at('identity/providers/persona/client.ts'),
        'reference ? await isOurs(reference, id)',
        'reference && isOurs ? true',
      ),
    ],
    test: {
      file: at('identity/person.test.ts'),
      name: 'security: an inquiry that anyone opened under the wallet of another user does not make that user a duplicate',
    },
  },
  {
    guard: 'an approval waits until the provider has said who else is this person',
    kind: 'decision',
    edits: [
      edit(at('identity/person.ts'), "if (same === 'unknown') return 'unknown'", ''),
      edit(
        at('identity/person.ts'),
        'return same.includes(null)',
        "return same !== 'unknown' && same.includes(null)",
      ),
    ],
    test: {
      file: at('identity/person.test.ts'),
      name: 'an approval waits while the question about duplicates is not answered',
    },
  },
  {
    guard: 'a wallet gets its native coin once',
    kind: 'guarded update',
    edits: [
      edit(
        at('identity/identity.store.ts'),
        'and(eq(identities.wallet, wallet), isNull(identities.dripOrderedAt))',
        'eq(identities.wallet, wallet)',
      ),
      edit(
        at('identity/orders.ts'),
        'messageIdFor(DripOrdered, wallet)',
        'messageIdFor(DripOrdered, crypto.randomUUID())',
      ),
    ],
    test: {
      file: at('identity/orders.ci.test.ts'),
      name: 'that is withdrawn and approved again is ordered each time, and dripped once',
    },
  },
  {
    guard: 'an outcome on the chain belongs to the newest order',
    kind: 'guarded update',
    edits: [edit(at('identity/identity.store.ts'), '    eq(identities.revision, revision),\n', '')],
    test: {
      file: at('identity/orders.ci.test.ts'),
      name: 'is not withdrawn on the chain by the settlement of an earlier order',
    },
  },
]
