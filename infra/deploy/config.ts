import type { Field } from '#platform/config'
import {
  address,
  amount,
  durationMs,
  inRange,
  integer,
  list,
  oneOf,
  orWord,
  privateKey,
  privateKeys,
  text,
} from '#platform/config-fields'
import { deployment, fitting } from '#platform/deployment'
import { ausdRules, chainIdField, genesisHashField, liveHoldSecondsMin, testAusd } from '#shared/chain/chain-id'
import { fields as relayerFields } from '../../services/chain-relayer/config'

/** Bounds of the contract's constructor, so that it refuses no terms that were accepted here. Times are in seconds. */
const yearSeconds = 365 * 86_400
const termMostSeconds = 10 * yearSeconds
/** A borrower who is reminded on the due date has a day to repay. */
const graceLeastSeconds = 86_400
const ratioMostBps = 9_000
const debtMostMicro = 2n ** 40n - 1n

function within<T extends number | bigint>(least: T, most: T, inner: Field<T>): Field<T> {
  return {
    ...inner,
    range: { least, most },
    parse: (raw, other) => inRange(inner.parse(raw, other), { least, most }),
  }
}

const atLeast = (least: number) => (value: number) => (value < least ? `must be at least ${least}` : undefined)

const minCycleSeconds = fitting(
  integer({
    least: 1,
    most: termMostSeconds,
    about: 'a shorter cycle counts as short; less than TERM_SECONDS, live at least a day',
    fallback: '60',
  }),
  // Cycles of a minute would earn a day's worth of rewards in an hour.
  { live: atLeast(86_400) },
)

/** Refuses a term within which no cycle can reach the least length. */
const longerThanACycle = (inner: Field<number>): Field<number> => ({
  ...inner,
  parse: (raw, other) => {
    const value = inner.parse(raw, other)
    const cycle = other?.('MIN_CYCLE_SECONDS') ?? minCycleSeconds.fallback!
    if (value <= Number(cycle)) throw new Error('must be more than MIN_CYCLE_SECONDS')
    return value
  },
})

export const fields = {
  RPC_URLS: list({
    about: 'JSON-RPC endpoints, best first, at least two',
    secret: true,
  }),
  DEPLOYMENT: deployment,
  CHAIN_ID: chainIdField,
  GENESIS_HASH: genesisHashField,
  AUSD_ADDRESS: fitting(
    orWord('deploy', address({ about: 'AUSD token; deploy: deploy a stand-in', fallback: testAusd })),
    ausdRules,
  ),
  CREDIT_LINE_ADDRESS: orWord(
    'deploy',
    address({
      about: 'credit line; deploy: the recorded one, or a new one',
      fallback: 'deploy',
    }),
  ),
  DEPLOY_BLOCK: orWord(
    'find',
    integer({
      about: 'block in which the credit line was deployed; find: search',
      fallback: 'find',
    }),
  ),
  ADMIN_KEY: privateKey({
    about: 'account that deploys, grants roles and funds the lending pool',
  }),
  TREASURY_KEY: privateKey({
    about: 'private key of the treasury',
  }),
  LANE_KEYS: privateKeys({
    about: 'private keys of the lanes',
  }),
  HOLD_SECONDS: fitting(
    within(
      0,
      yearSeconds,
      integer({ about: 'hold time of card payments, in seconds; at most a year, live at least a day', fallback: '60' }),
    ),
    { live: atLeast(liveHoldSecondsMin) },
  ),
  MIN_CYCLE_SECONDS: minCycleSeconds,
  MIN_DEBT_AUSD_MICRO: within(
    0n,
    debtMostMicro,
    amount({
      about: 'a cycle of less debt × seconds than this (micro-AUSD) × MIN_CYCLE_SECONDS counts as short',
      fallback: '1000000',
    }),
  ),
  TERM_SECONDS: longerThanACycle(
    within(
      1,
      termMostSeconds,
      integer({
        about: 'a longer cycle counts as late; more than MIN_CYCLE_SECONDS',
        fallback: '2592000',
      }),
    ),
  ),
  GRACE_SECONDS: within(
    graceLeastSeconds,
    termMostSeconds,
    integer({
      about: 'time after the term in which a payment prevents a default; at least a day',
      fallback: '86400',
    }),
  ),
  INITIAL_RATIO_BPS: within(
    1,
    ratioMostBps,
    integer({
      about: 'share of collateral a new account may draw, in basis points; at most 9000',
      fallback: '5000',
    }),
  ),
  // A borrower must be able to repay with what these give, so that a deployment with less is refused before it begins.
  DRIP_WEI: relayerFields.DRIP_WEI,
  DRIP_BELOW_WEI: relayerFields.DRIP_BELOW_WEI,
  LANE_WEI: amount({
    least: 0n,
    most: 10n ** 24n,
    about: 'minimum native coin per lane, in wei; on Monad a floor of 11 and 2 to spend',
    fallback: '13000000000000000000',
  }),
  TREASURY_AUSD_MICRO: amount({
    least: 0n,
    most: 10n ** 18n,
    about: 'minimum AUSD in the treasury, in micro-AUSD',
    fallback: '1000000000',
  }),
  LIQUIDITY_AUSD_MICRO: amount({
    least: 0n,
    most: 10n ** 18n,
    about: 'minimum AUSD in the lending pool, in micro-AUSD',
    fallback: '1000000000',
  }),
  DEPLOY_TEST_FUNDS: fitting(
    oneOf(['no', 'yes'], {
      about: 'yes: mint AUSD if the admin may; on anvil also give native coin and Multicall3',
      fallback: 'no',
    }),
    { live: (funds) => (funds === 'yes' ? 'must be no' : undefined) },
  ),
  ADDRESSES_FILE: text({
    about: 'file that records deployed addresses',
    fallback: '.local/addresses.json',
  }),
  FINAL_WITHIN_MS: durationMs({
    about: 'how long to wait for a step to become final',
    fallback: '90000',
  }),
}
