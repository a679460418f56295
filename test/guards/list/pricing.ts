import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const at = (path: string) => `services/pricing/${path}`
const noRate = (row: string) => ({ file: at('decide.test.ts'), name: '%s', row })

export const pricingGuards: readonly Guard[] = [
  {
    guard: 'a quote that we did not issue is invalid',
    kind: 'quote',
    by: dropped,
    test: {
      file: at('quote-id.test.ts'),
      name: 'security: with any changed digit is invalid',
    },
  },
  {
    guard: 'a quote is taken once',
    kind: 'quote',
    by: instead('=== 1', '< 2'),
    test: {
      file: at('lock.test.ts'),
      name: 'serves a top-up or a cash-out, never both, and neither of them twice',
    },
  },
  {
    guard: 'a quote is taken before it expires, by the database clock',
    kind: 'quote',
    by: without('clock_timestamp() <'),
    test: {
      file: at('lock.test.ts'),
      name: 'follows the clock of the database while those of the instances are %s',
      row: 'right',
    },
  },
  {
    guard: 'a quote is taken no earlier than it can have been issued, by the database clock',
    kind: 'quote',
    by: instead('>=', '<>'),
    test: {
      file: at('lock.test.ts'),
      name: 'is past for a quote that ends later than any issued now, as by a clock that was ahead',
    },
  },
  {
    guard: 'a taken quote is used for every other taker',
    kind: 'quote',
    by: dropped,
    test: { file: at('quote.test.ts'), name: 'that is %s gets the response in the table' },
  },
  {
    guard: 'an expired quote is refused',
    kind: 'quote',
    by: dropped,
    test: {
      file: at('quote.test.ts'),
      name: 'that is %s gets the response in the table',
      row: 'expired and free',
    },
  },
  {
    guard: 'a rate is within its band',
    kind: 'decision',
    by: always,
    test: noRate('outside the band'),
  },
  {
    guard: 'a rate is not too old',
    kind: 'decision',
    by: without('ageOf'),
    test: { file: at('decide.test.ts'), name: 'of %s at %s: spread %p' },
  },
  {
    guard: 'a doubtful rate pays nothing out',
    kind: 'decision',
    by: never,
    test: {
      file: at('decide.test.ts'),
      name: 'security: there is no cash-out if it agrees and another source differs',
    },
  },
  {
    guard: 'while the market is closed, a rate that no open market confirms pays nothing out',
    kind: 'decision',
    by: never,
    test: {
      file: at('decide.test.ts'),
      name: 'security: there is no cash-out if the market that never closes %s',
      row: 'has no price',
    },
  },
  {
    guard: 'a quote for cash-outs prices no money that comes in',
    kind: 'quote',
    by: dropped,
    test: {
      file: at('lock.test.ts'),
      name: 'security: gives a quote for cash-outs to no top-up and to no settlement',
    },
  },
  {
    guard: 'a quote for money that comes in prices no cash-out',
    kind: 'quote',
    by: dropped,
    test: {
      file: at('lock.test.ts'),
      name: 'security: gives a quote for money that comes in to no cash-out, whoever has taken it',
    },
  },
  {
    guard: 'a rate is close to those of other sources',
    kind: 'decision',
    by: never,
    test: noRate('more than 3% from another source'),
  },
  {
    guard: 'a rate jump needs manual review',
    kind: 'decision',
    by: never,
    test: { file: at('decide.test.ts'), name: 'to %s with a release for %s: used is %p' },
  },
]
