import {
  address,
  amount,
  durationMs,
  integer,
  list,
  privateKey,
  privateKeys,
  text,
} from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints of the chain, comma-separated, the best one first; two or more',
    secret: true,
  }),
  RPC_REQUESTS_PER_SECOND: integer({
    about: 'JSON-RPC calls to one endpoint by this process; with the others it stays below a limit',
    fallback: '12',
  }),
  RPC_ETH_CALLS_PER_SECOND: integer({
    about: 'how many of them may be eth_call, which providers count apart',
    fallback: '10',
  }),
  CHAIN_ID: integer({ about: 'the chain the endpoints must be on', fallback: '10143' }),
  GENESIS_HASH: text({
    about: 'hash of block 0, so that a chain begun anew is noticed; unchecked: any',
    fallback: 'unchecked',
  }),
  AUSD_ADDRESS: address({ about: 'the AUSD token' }),
  CREDIT_LINE_ADDRESS: address({ about: 'the credit-line contract' }),
  TREASURY_KEY: privateKey({ about: 'key of the treasury; signs returns, pays no gas' }),
  LANE_KEYS: privateKeys({
    about: 'keys that send transactions; each holds RELAYER_ROLE and VERIFIER_ROLE',
  }),
  CREDIT_MAX_AUSD: amount({
    about: 'what a lane signs for one credited top-up at most, in whole AUSD',
    fallback: '100000',
  }),
  CREDIT_DAY_MAX_AUSD: amount({
    about: 'what a lane signs for credited top-ups in a day (UTC) at most, in whole AUSD',
    fallback: '10000000',
  }),
  REPAY_MAX_AUSD: amount({
    about: 'what a lane signs for one repayment at most, in whole AUSD',
    fallback: '100000',
  }),
  REPAY_DAY_MAX_AUSD: amount({
    about: 'what a lane signs for repayments in a day (UTC) at most, in whole AUSD',
    fallback: '10000000',
  }),
  RETURN_MAX_AUSD: amount({
    about: 'what the treasury signs for one return at most, in whole AUSD',
    fallback: '100000',
  }),
  RETURN_DAY_MAX_AUSD: amount({
    about: 'what the treasury signs for returns in a day (UTC) at most, in whole AUSD',
    fallback: '10000000',
  }),
  DRIP_DAY_MAX_WEI: amount({
    about: 'native coin a lane signs for drips in a day (UTC) at most, in wei',
    fallback: '1000000000000000000000',
  }),
  DRIP_WEI: amount({
    about: 'native coin a newly verified wallet gets, in wei',
    fallback: '50000000000000000',
  }),
  DRIP_BELOW_WEI: amount({
    about: 'a wallet that holds this much native coin gets none',
    fallback: '20000000000000000',
  }),
  LANE_FLOOR_WEI: amount({
    about:
      'a lane takes nothing new that may leave it less; on Monad 11 coins: it reserves 10, and ' +
      'reverts what moves value out of them',
    fallback: '0',
  }),
  LANE_REFILL_WEI: amount({
    about: 'a lane with less than this above its floor calls a person',
    fallback: '1000000000000000000',
  }),
  GAS_BUDGET_WEI: amount({
    about: "what a wallet's transfers may burn by reverting in a day (UTC), in wei",
    fallback: '1000000000000000000',
  }),
  BASE_FEE_CAP_WEI: amount({
    about: 'a base fee above this calls a person, in wei per gas',
    fallback: '1000000000000',
  }),
  TRANSFERS_LAG_BLOCKS: amount({
    about: 'finalized blocks whose transfers to the treasury were not read; more call a person',
    fallback: '1000',
  }),
  OLDEST_ALARM_MS: durationMs({
    about: 'an operation under way for longer calls a person',
    fallback: '300000',
  }),
  POLL_MS: durationMs({
    about: "pause between two rounds, and between two looks at the chain: a block's time",
    fallback: '300',
  }),
  WATCH_MS: durationMs({
    about:
      'how often transfers to the treasury are read, and failed takes of the last hour checked',
    fallback: '5000',
  }),
  REBROADCAST_AFTER_MS: durationMs({
    about: 'a transaction not seen in a block for so long is sent again',
    fallback: '6000',
  }),
  BUMP_AFTER_MS: durationMs({
    about: "a lane's oldest transaction gets a higher fee after so long",
    fallback: '10000',
  }),
  BATCH_MAX: integer({
    about: 'operations packed into one transaction at most; 1: none are packed',
    fallback: '16',
  }),
}
