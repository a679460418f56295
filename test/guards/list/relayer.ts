import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const at = (path: string) => `services/chain-relayer/${path}`
const lanesTest = at('lanes/lane.store.test.ts')
const kinds = at('operations/kinds.test.ts')
const steps = at('operations/operation.store.test.ts')

const once: readonly Guard[] = [
  {
    guard: 'an order with different content is no repeat',
    kind: 'key',
    by: never,
    test: {
      file: at('relay-loop.test.ts'),
      name: 'security: repeated with another amount is dead-lettered',
    },
  },
  {
    guard: 'a cause has one operation',
    kind: 'key',
    by: instead('cause}', `cause}:\${crypto.randomUUID()}`),
    also: ['there is no second row for chain_relayer.operation_once'],
    test: {
      file: at('operations/operation.test.ts'),
      name: 'has the same id and content in any spelling of its addresses',
    },
  },
  {
    guard: 'a signed transfer belongs to one payout',
    kind: 'authorization',
    also: ['there is no second row for chain_relayer.operation_authorization_once'],
    test: {
      file: kinds,
      name: 'security: a second payout out of the same authorization fails at once',
    },
  },
  {
    guard: 'a take that shares its transfer with another never counts as late',
    kind: 'authorization',
    by: without('failed.authorizationNonce'),
    test: {
      file: at('operations/operation.test.ts'),
      name: 'security: that shares its authorization with another payout never counts as still possible',
    },
  },
  {
    guard: 'an operation ends once',
    kind: 'guarded update',
    by: without('inArray'),
    test: { file: steps, name: 'ends once, and its result is announced once' },
  },
  {
    guard: 'an operation gets a nonce once, while it is waiting',
    kind: 'guarded update',
    by: without('eq'),
    test: { file: steps, name: 'gets one nonce when two instances assign it concurrently' },
  },
  {
    guard: 'an examined operation is ended only if it is still waiting',
    kind: 'guarded update',
    by: instead("'waiting'", "'waiting', 'assigned'"),
    test: {
      file: steps,
      name: 'with a nonce is not ended by an instance that read it without one',
    },
  },
  {
    guard: 'an operation is given up only if it is still waiting',
    kind: 'guarded update',
    by: without("['waiting']"),
    test: {
      file: steps,
      name: 'with a nonce is not ended by an instance that read it without one',
    },
  },
  {
    guard: 'only one verdict of a wallet is in progress at a time',
    kind: 'guarded update',
    by: without('not(accompaniesVerdict'),
    test: { file: steps, name: 'only one of two verdicts of a kind on a wallet is assigned' },
  },
  {
    guard: 'nothing is given to a wallet while a freeze of it is not final',
    kind: 'guarded update',
    by: [without('not(precedesFreeze'), dropped],
    test: {
      file: at('lanes/lanes.test.ts'),
      name: 'security: a %s waits until the freeze is final, also in another lane',
      row: 'credit',
    },
  },
  {
    guard: 'only a waiting operation is postponed',
    kind: 'guarded update',
    by: without('eq(operations.state'),
    test: { file: steps, name: 'with a nonce is not postponed' },
  },
  {
    guard: 'AUSD returned to its sender does not also pay a cash-out',
    kind: 'decision',
    by: never,
    test: {
      file: at('unsolicited-deposits/cashouts.test.ts'),
      name: 'when the cash-out comes later: it fails without a payout to the bank',
    },
  },
  {
    guard: 'an erasure waits for an order of its wallet that is being stored',
    kind: 'lock',
    by: instead('lockWallet', 'async () => {}'),
    test: {
      file: at('operations/erase.test.ts'),
      name: 'an erasure waits for an order that is being stored, and is then refused',
    },
  },
  {
    guard: 'a wallet with a claim is not erased',
    kind: 'evidence',
    by: instead('await claimsOn(wallet)', '[]'),
    test: { file: at('operations/erase.test.ts'), name: 'while it owes, by the chain itself' },
  },
  {
    guard: 'a take waits for a giveback of its wallet that is being stored',
    kind: 'lock',
    by: dropped,
    test: {
      file: at('unsolicited-deposits/cashouts.test.ts'),
      name: 'when the cash-out comes while the giveback is stored: it fails',
    },
  },
  {
    guard: 'a giveback waits for a take of its wallet that is being stored',
    kind: 'lock',
    by: dropped,
    test: {
      file: at('unsolicited-deposits/cashouts.test.ts'),
      name: 'when the cash-out is ordered concurrently',
    },
  },
  {
    guard: 'AUSD taken by a cash-out is not also returned',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('unsolicited-deposits/cashouts.test.ts'),
      name: 'when the cash-out took it or its order is in progress',
    },
  },
  {
    guard: 'AUSD that the token shows as returned is not returned again',
    kind: 'evidence',
    by: dropped,
    test: {
      file: at('unsolicited-deposits/arrival.test.ts'),
      name: '%s',
      row: 'and went back before the rows were put back',
    },
  },
  {
    guard: 'a return has one nonce, so that the token refuses a second',
    kind: 'key',
    by: instead('payoutId}', `payoutId}:\${crypto.randomUUID()}`),
    test: {
      file: kinds,
      name: 'already made before the database was lost is recognised, not repeated',
    },
  },
  {
    guard: 'of two verdicts on a wallet, the newest counts',
    kind: 'decision',
    by: never,
    test: { file: kinds, name: 'to freeze it in the wrong order end with the newest' },
  },
  {
    guard: 'an order about a hold waits until its credit is on the chain',
    kind: 'decision',
    by: instead("'revoke'", "'nothing'"),
    test: {
      file: at('operations/holds.ci.test.ts'),
      name: 'revokes a %s after it is on the chain, until %s is left',
      row: 'topup',
    },
  },
]

const nonces: readonly Guard[] = [
  {
    guard: 'a nonce is drawn by the holder of its lane',
    kind: 'lane',
    by: dropped,
    test: { file: lanesTest, name: 'are not drawn: %s', row: 'another holder' },
  },
  {
    guard: 'a nonce is drawn under the newest epoch of its lane',
    kind: 'lane',
    by: dropped,
    test: { file: lanesTest, name: 'are not drawn: %s', row: 'an epoch before' },
  },
  {
    guard: 'a nonce is drawn only during the lease',
    kind: 'lane',
    by: dropped,
    test: { file: lanesTest, name: 'are not drawn: %s', row: 'a lease that is over' },
  },
  {
    guard: 'a faulty lane gives out no nonce',
    kind: 'lane',
    by: without('isNull'),
    test: { file: lanesTest, name: 'are not drawn: %s', row: 'a lane with a fault' },
  },
  {
    guard: 'a new holder of a lane has a new epoch',
    kind: 'lane',
    by: instead('1 end', '0 end'),
    test: {
      file: lanesTest,
      name: 'is new for each new holder, and the same while it is renewed',
    },
  },
  {
    guard: 'a held lane is not leased to another instance',
    kind: 'lane',
    by: instead('isOver(lanes.leasedUntil, leaseMs)', 'sql`true`'),
    test: { file: lanesTest, name: 'is held by one of two concurrent claimants' },
  },
  {
    guard: 'a nonce is given out once',
    kind: 'lane',
    by: instead('+ 1', '+ 0'),
    test: { file: lanesTest, name: 'are all different when they are drawn concurrently' },
  },
  {
    guard: 'a lane whose nonce on the chain is ahead of its rows gives out no nonce',
    kind: 'lane',
    by: dropped,
    test: {
      file: at('lanes/lanes.test.ts'),
      name: '%s: next %d, chain %d, open %p -> %p',
      row: 'whose key sent something we never stored',
    },
  },
  {
    guard: 'while one lane is behind the chain, no lane gives out a nonce',
    kind: 'lane',
    by: never,
    test: {
      file: at('lanes/lanes.test.ts'),
      name: 'stop every lane, not only the one that has sent since: a second drip has no guard',
    },
  },
  {
    guard: 'a lane is not opened or leased by an old block',
    kind: 'lane',
    by: always,
    test: {
      file: at('lanes/lanes.test.ts'),
      name: 'a lane of a restored backup, whose nonces the chain has used, gives out none',
    },
  },
  {
    guard: 'a wallet gets no more refills than its closed cycles and two',
    kind: 'decision',
    by: without('given < most'),
    test: {
      file: at('operations/refills.test.ts'),
      name: 'are given twice to a wallet that sends its coin away, and then no more',
    },
  },
  {
    guard: 'a fault is recorded only by the holder of its lane',
    kind: 'lane',
    by: instead('held(lane, holder)', 'eq(lanes.address, lane.address)'),
    test: {
      file: at('lanes/lanes.test.ts'),
      name: 'do not record a fault that a stalled process finds on a lane that the other holds by now',
    },
  },
  {
    guard: 'a transaction ends once',
    kind: 'guarded update',
    by: dropped,
    test: { file: lanesTest, name: 'ends once, in one step with its operations' },
  },
]

export const relayerGuards: readonly Guard[] = [...once, ...nonces]
