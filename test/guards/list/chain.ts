import type { Guard } from '../guard'
import { always, dropped, followed, instead, never, without } from '../operators'

const at = (path: string) => `services/chain-relayer/${path}`
const kinds = at('operations/kinds.test.ts')
const rounds = at('relay-loop.test.ts')
const answers = at('questions/answers.test.ts')

const evidence: readonly Guard[] = [
  {
    guard: 'a transaction is stored before it is sent',
    kind: 'lane',
    by: followed('await context.node.sendRaw(signed.raw, 0)'),
    test: {
      file: at('transactions/broadcast.test.ts'),
      name: 'a transaction is sent only after its bytes are stored',
    },
  },
  {
    guard: 'an outcome is reported once its block is final',
    kind: 'finality',
    by: [always, without('(await isFinal')],
    test: {
      file: at('transactions/finalize.test.ts'),
      name: 'is taken only once its block is final',
    },
  },
  {
    guard: 'a receipt counts only while its block is unchanged',
    kind: 'finality',
    by: always,
    test: {
      file: at('transactions/finalize.test.ts'),
      name: 'is not taken from a receipt %s',
    },
  },
  {
    guard: 'the use of an authorization is matched to the transfer logged right after it',
    kind: 'evidence',
    by: always,
    test: { file: kinds, name: 'security: a nonce used for another transfer is not a take' },
  },
  {
    guard: 'a lagging endpoint does not determine the treasury balance',
    kind: 'evidence',
    by: dropped,
    test: {
      file: at('questions/treasury.test.ts'),
      name: 'security: a treasury reading from an endpoint that lags behind a final credit is rejected',
    },
  },
  {
    guard: 'the service signs only for its configured chain',
    kind: 'evidence',
    by: instead('Number(id) !== chainId', '!id'),
    test: {
      file: 'shared/chain/comparing.test.ts',
      name: '%s is not believed while the first is away, nor when it comes back',
      row: 'with another id',
    },
  },
  {
    guard: 'a send is signed by its wallet',
    kind: 'signature',
    by: dropped,
    test: {
      file: answers,
      name: 'security: signed by another key, or mirrored to a high s, is refused',
    },
  },
  {
    guard: 'an unverified wallet sends nothing',
    kind: 'rights',
    by: instead('facts.verified', 'true'),
    test: { file: answers, name: 'of an unverified wallet is refused' },
  },
  {
    guard: 'a frozen wallet neither sends nor cashes out',
    kind: 'rights',
    by: dropped,
    test: {
      file: answers,
      name: 'of a frozen wallet is refused, and so is its cash-out, until the wallet is unfrozen',
    },
  },
  {
    guard: 'no send goes to an address where it is lost or mistaken for an incoming payment',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('questions/send.test.ts'),
      name: 'refuses one with only the fault %s',
      row: 'to_treasury',
    },
  },
  {
    guard: 'a nonce of a wallet is one send',
    kind: 'authorization',
    by: without('known.contentHash'),
    test: { file: answers, name: 'of the same nonce with other content is a conflict' },
  },
  {
    guard: 'sends of a wallet check its AUSD one at a time',
    kind: 'lock',
    by: dropped,
    test: {
      file: answers,
      name: 'and a concurrent one cannot both use the same AUSD',
    },
  },
]

const keys: readonly Guard[] = [
  {
    guard: 'a transfer gets a nonce only if its wallet can pay it in addition to those in flight',
    kind: 'cover',
    by: always,
    test: {
      file: at('transactions/bundle.test.ts'),
      name: 'security: from one balance get a nonce only as far as the balance covers them',
    },
  },
  {
    guard: 'a wallet spends no more gas than its daily budget',
    kind: 'cover',
    by: dropped,
    test: {
      file: at('transactions/funding.test.ts'),
      name: '%s',
      row: 'no room when nothing is left',
    },
  },
  {
    guard: 'a lane near its reserve accepts no new operation',
    kind: 'cover',
    by: without('context.settings'),
    test: { file: rounds, name: 'security: accepts no operation near its reserve' },
  },
  {
    guard: 'a key signs no more in one operation than its limit',
    kind: 'rights',
    by: always,
    test: {
      file: at('keys/keys.test.ts'),
      name: 'for one operation it is not signed until an operator acts, and other operations pass',
    },
  },
  {
    guard: 'a key signs no more in a day than its limit',
    kind: 'rights',
    by: never,
    test: { file: at('keys/keys.test.ts'), name: 'for returns the treasury signs nothing' },
  },
  {
    guard: 'a lane calls only our contracts, and only their functions for it',
    kind: 'rights',
    by: dropped,
    test: { file: at('keys/policy.test.ts'), name: '%s: %#' },
  },
  {
    guard: 'the treasury signs transfers of AUSD, on our chain, from itself',
    kind: 'rights',
    by: dropped,
    test: { file: at('keys/policy.test.ts'), name: '%s: %#', row: 'on another chain' },
  },
  {
    guard: 'a transaction re-signed with a higher fee counts once',
    kind: 'key',
    by: instead('given.identity', 'given.identity || gen_random_uuid()'),
    test: {
      file: at('keys/keys.test.ts'),
      name: 'a transaction that is signed again with a higher fee counts once',
    },
  },
]

export const chainGuards: readonly Guard[] = [...evidence, ...keys]
