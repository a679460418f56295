import { edit, type Guard } from '../guard'

const at = (path: string) => `services/pricing/${path}`
const decide = at('decide.ts')
const noRate = (row: string) => ({ file: at('decide.test.ts'), name: '%s', row })

export const pricingGuards: readonly Guard[] = [
  {
    guard: 'a quote that we did not issue is invalid',
    kind: 'quote',
    edits: [
      edit(
        at('quote-id.ts'),
        'if (!secrets.some((secret) => same(proof, proofOf(secret, said)))) return undefined',
        'void [secrets, same, proof, proofOf]',
      ),
    ],
    test: {
      file: at('quote-id.test.ts'),
      name: 'security: with any changed digit is invalid',
    },
  },
  {
    guard: 'a quote is taken once',
    kind: 'quote',
    edits: [edit(at('taking.store.ts'), 'return won.length === 1', 'return won.length < 2')],
    test: {
      file: at('lock.test.ts'),
      name: 'serves a top-up or a cash-out, never both, and neither of them twice',
    },
  },
  {
    guard: 'a quote is taken before it expires, by the database clock',
    kind: 'quote',
    edits: [
      edit(at('taking.store.ts'), `      and clock_timestamp() < \${expiresAt}::timestamptz\n`, ''),
    ],
    test: {
      file: at('lock.test.ts'),
      name: 'follows the clock of the database while those of the instances are %s',
      row: 'right',
    },
  },
  {
    guard: 'a quote is taken no earlier than it can have been issued, by the database clock',
    kind: 'quote',
    edits: [edit(at('taking.store.ts'), `clock_timestamp() >= \${validFrom}::timestamptz`, 'true')],
    test: {
      file: at('lock.test.ts'),
      name: 'is past for a quote that ends later than any issued now, as by a clock that was ahead',
    },
  },
  {
    guard: 'a taken quote is used for every other taker',
    kind: 'quote',
    edits: [
      edit(at('quote.ts'), "if (requestFingerprint !== null) return refuse('quote_used')", ''),
    ],
    test: { file: at('quote.test.ts'), name: 'that is %s gets the response in the table' },
  },
  {
    guard: 'an expired quote is refused',
    kind: 'quote',
    edits: [
      edit(at('quote.ts'), "if (isExpired(quote, nowMs)) return refuse('quote_expired')", ''),
    ],
    test: {
      file: at('quote.test.ts'),
      name: 'that is %s gets the response in the table',
      row: 'expired and free',
    },
  },
  {
    guard: 'a rate is within its band',
    kind: 'decision',
    edits: [
      edit(
        decide,
        'return minorPerUsd >= band.min && minorPerUsd <= band.max',
        'return minorPerUsd > 0n',
      ),
    ],
    test: noRate('outside the band'),
  },
  {
    guard: 'a rate is not too old',
    kind: 'decision',
    edits: [edit(decide, "ageOf(sighting, guards, nowMs) !== 'stale'", 'nowMs > 0')],
    test: { file: at('decide.test.ts'), name: 'of %s at %s: spread %p' },
  },
  {
    guard: 'a rate is close to those of other sources',
    kind: 'decision',
    edits: [
      edit(
        decide,
        'if (deviationBps !== null && deviationBps > guards.deviationWidenMaxBps)',
        'if (deviationBps === -1n)',
      ),
    ],
    test: noRate('more than 3% from another source'),
  },
  {
    guard: 'a rate jump needs manual review',
    kind: 'decision',
    edits: [edit(decide, 'if (jumped(known, reference, guards))', 'if (jumped === undefined)')],
    test: { file: at('decide.test.ts'), name: 'to %s with a release for %s: used is %p' },
  },
]
