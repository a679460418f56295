import type { Field } from '#shared/config'
import {
  address,
  amount,
  durationMs,
  integer,
  list,
  oneOf,
  privateKey,
  privateKeys,
  text,
} from '#shared/config-fields'

/** The real AUSD of the test chain 10143. */
export const realAusd: `0x${string}` = '0xa9012a055bd4e0eDfF8Ce09f960291C09D5322dC'

/** What the field reads, or a word that stands for "there is none yet". */
const orWord = <W extends string, T>(word: W, inner: Field<T>): Field<T | W> => ({
  ...inner,
  type: `${inner.type} | ${word}`,
  parse: (raw) => (raw === word ? word : inner.parse(raw)),
})

/** The contract takes nothing less: the deployment says so before anything is sent. */
const atLeast = (least: number, inner: Field<number>): Field<number> => ({
  ...inner,
  parse: (raw) => {
    const value = inner.parse(raw)
    if (value < least) throw new Error(`must be at least ${least}`)
    return value
  },
})
/** A relayed payment may have been made a day ago: no default may overtake it. */
const graceLeastSeconds = 86_400

export const fields = {
  RPC_URLS: list({
    about: 'JSON-RPC endpoints of the chain, comma-separated, the best one first',
    secret: true,
  }),
  CHAIN_ID: integer({ about: 'the chain the endpoints must be on', fallback: '10143' }),
  GENESIS_HASH: text({ about: 'hash of block 0; unchecked: any', fallback: 'unchecked' }),
  AUSD_ADDRESS: orWord(
    'deploy',
    address({ about: 'the AUSD token; deploy: the stand-in', fallback: realAusd }),
  ),
  CREDIT_LINE_ADDRESS: orWord(
    'deploy',
    address({
      about: 'attach to this credit line; deploy: that of the addresses file, else a new one',
      fallback: 'deploy',
    }),
  ),
  DEPLOY_BLOCK: orWord(
    'find',
    integer({ about: 'block of an attached credit line; find: ask the chain', fallback: 'find' }),
  ),
  ADMIN_KEY: privateKey({ about: 'deploys, grants roles, funds the lending pool' }),
  TREASURY_KEY: privateKey({ about: 'approves the credit line' }),
  LANE_KEYS: privateKeys({ about: 'keys of the relayer, comma-separated: each gets both roles' }),
  HOLD_SECONDS: integer({ about: 'how long a payment by card is held', fallback: '60' }),
  MIN_CYCLE_SECONDS: integer({ about: 'a cycle closed sooner is short', fallback: '60' }),
  MIN_DEBT_AUSD_MICRO: amount({
    about:
      'in micro AUSD; a cycle whose debt times its seconds is less than this times MIN_CYCLE_SECONDS is short',
    fallback: '1000000',
  }),
  TERM_SECONDS: integer({ about: 'a cycle closed later is late', fallback: '2592000' }),
  GRACE_SECONDS: atLeast(
    graceLeastSeconds,
    integer({
      about: 'after term and grace anyone may mark a default; a day at least',
      fallback: '86400',
    }),
  ),
  INITIAL_RATIO_BPS: integer({
    about: 'basis points of the collateral a new account may draw',
    fallback: '5000',
  }),
  LANE_WEI: amount({
    about: 'native coin each lane must hold, in wei; 11 are its floor on Monad, 2 are to be spent',
    fallback: '13000000000000000000',
  }),
  TREASURY_AUSD_MICRO: amount({
    about: 'AUSD the treasury must hold at least, in micro units',
    fallback: '1000000000',
  }),
  LIQUIDITY_AUSD_MICRO: amount({
    about: 'AUSD the lending pool must hold at least, in micro units',
    fallback: '1000000000',
  }),
  DEPLOY_TEST_FUNDS: oneOf(['no', 'yes'], {
    about: 'yes: mints AUSD if the admin may; on an anvil also native coin and Multicall3',
    fallback: 'no',
  }),
  ADDRESSES_FILE: text({ about: 'where the record is kept', fallback: '.local/addresses.json' }),
  FINAL_WITHIN_MS: durationMs({
    about: 'a step not final within this is left as it is, unknown',
    fallback: '90000',
  }),
}
