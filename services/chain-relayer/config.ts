import type { Field } from '#platform/config'
import { amount, durationMs, integer, list, privateKey, privateKeys } from '#platform/config-fields'
import { commonFields, databaseFields } from '#platform/service'
import { ausdAddress, genesisHashField } from '#shared/chain/chain-id'
import { journeyWei } from '#shared/chain/gas'
import { operatorFields } from '#shared/operators/operators'

/** Parses an amount of native coin that a borrower must be able to live on. */
function journey(words: { about: string; fallback: string }): Field<bigint> {
  const field = amount(words)
  return {
    ...field,
    parse: (raw) => {
      const wei = field.parse(raw)
      if (wei < journeyWei)
        throw new Error(
          `must be at least ${journeyWei}: a draw, a repayment and two withdrawals cost that at twice the least fee`,
        )
      return wei
    },
  }
}

/** Wait, in ms, after a read of the chain for others to share the next one: about as long as a read takes. */
export const readsTogetherMs = 20

/** Number of final blocks that the scan of treasury transfers may lag before an alert. */
export const transfersLagBlocks = 1_000n

export const fields = {
  ...commonFields,
  ...databaseFields,
  ...operatorFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints, best first, at least two',
    secret: true,
  }),
  RPC_REQUESTS_PER_SECOND: integer({
    least: 1,
    most: 1_000_000,
    about: 'calls per second to each endpoint; processes on one address share its limit',
    fallback: '12',
  }),
  RPC_ETH_CALLS_PER_SECOND: integer({
    least: 1,
    most: 1_000_000,
    about: 'eth_call requests per second to each endpoint',
    fallback: '10',
  }),
  GENESIS_HASH: genesisHashField,
  AUSD_ADDRESS: ausdAddress,
  TREASURY_KEY: privateKey({
    about: 'private key of the treasury',
  }),
  LANE_KEYS: privateKeys({
    about: 'private keys of the lanes',
  }),
  CREDIT_MAX_AUSD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: 'maximum credited top-up (whole AUSD)',
    fallback: '100000',
  }),
  CREDIT_DAY_MAX_AUSD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: 'credited top-ups per lane and UTC day (whole AUSD)',
    fallback: '10000000',
  }),
  REPAY_MAX_AUSD: amount({ least: 1n, most: 10n ** 12n, about: 'maximum repayment (whole AUSD)', fallback: '100000' }),
  REPAY_DAY_MAX_AUSD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: 'repayments per lane and UTC day (whole AUSD)',
    fallback: '10000000',
  }),
  RETURN_MAX_AUSD: amount({ least: 1n, most: 10n ** 12n, about: 'maximum return (whole AUSD)', fallback: '100000' }),
  RETURN_DAY_MAX_AUSD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: 'returns per UTC day (whole AUSD)',
    fallback: '10000000',
  }),
  DRIP_DAY_MAX_WEI: amount({
    least: 0n,
    most: 10n ** 27n,
    about: 'drips per lane and UTC day (wei)',
    fallback: '1000000000000000000000',
  }),
  DRIP_WEI: journey({
    about: 'native coin sent to a newly verified wallet, and in a refill (wei)',
    fallback: '250000000000000000',
  }),
  DRIP_BELOW_WEI: journey({
    about: 'skip the drip if the wallet already holds this much (wei)',
    fallback: String(journeyWei),
  }),
  LANE_MIN_BALANCE_WEI: amount({
    least: 0n,
    most: 10n ** 24n,
    about: 'minimum balance of a lane for new work (wei); 11 coins on Monad, which reserves 10',
    fallback: '0',
  }),
  LANE_REFILL_WEI: amount({
    least: 0n,
    most: 10n ** 24n,
    about: 'alert when a lane holds less than this above its minimum (wei)',
    fallback: '1000000000000000000',
  }),
  GAS_BUDGET_WEI: amount({
    least: 1n,
    most: 10n ** 24n,
    about:
      'maximum gas cost of the sends and cash-outs of a wallet per day in Jakarta (wei); the default pays about 140 at the least fee of Monad',
    fallback: '2000000000000000000',
  }),
  BASE_FEE_CAP_WEI: amount({
    least: 1n,
    most: 10n ** 18n,
    about: 'alert when the base fee exceeds this (wei per gas)',
    fallback: '1000000000000',
  }),
  OLDEST_ALARM_MS: durationMs({
    about: 'alert when an operation has been pending this long',
    fallback: '300000',
  }),
  POLL_MS: durationMs({
    about: 'interval between reads of the chain, about one block time',
    fallback: '300',
  }),
  READS_EVERY_MS: durationMs({
    about: 'under load, interval between the reads of the chain that answer users',
    fallback: '240',
  }),
  WATCH_MS: durationMs({
    about: 'interval for scanning treasury transfers and recent failed takes',
    fallback: '5000',
  }),
  REBROADCAST_AFTER_MS: durationMs({
    about: 'resend a transaction that is in no block after this long',
    fallback: '6000',
  }),
  BUMP_AFTER_MS: durationMs({
    about: "raise the fee of a lane's oldest transaction after this long",
    fallback: '10000',
  }),
  BATCH_MAX: integer({
    least: 1,
    most: 100,
    about: 'maximum operations per transaction; 1 disables batching',
    fallback: '16',
  }),
}
