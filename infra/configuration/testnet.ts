import { testAusd, testChainId } from '#shared/chain/chain-id'

/**
 * Values proposed for the public test chain (docs.monad.xyz; the issuer of AUSD on chain 10143). The provider allows 60
 * calls a minute in test mode. Monad reserves 10 coins per account and reverts transfers out of them; the minimum
 * balance of a lane adds one coin for pending gas.
 */
export const testnetValues: ReadonlyMap<string, string> = new Map([
  ['STACK', 'testnet'],
  ['IMAGE_TAG', 'testnet'],
  ['DEPLOYMENT', 'test'],
  // Source: docs.monad.xyz/developer-essentials/testnet
  ['RPC_URLS', 'https://testnet-rpc.monad.xyz,https://rpc-testnet.monadinfra.com'],
  // One second is about three blocks.
  ['POLL_MS', '1000'],
  ['READS_EVERY_MS', '800'],
  ['CHAIN_ID', String(testChainId)],
  ['AUSD_ADDRESS', testAusd],
  ['LANE_MIN_BALANCE_WEI', '11000000000000000000'],
  ['PROVIDER_URL', 'https://api.xendit.co'],
  ['PROVIDER_REQUESTS_PER_MINUTE', '60'],
  ['IDENTITY_API_URL', 'https://api.sumsub.com'],
  ['IDENTITY_APP_TOKEN', ''],
  ['GENESIS_HASH', ''],
  ['RATE_SOURCES', 'frankfurter,bnm,open-er-api,indodax'],
  // Each deployment decides on its spreads; pricing does not start without them.
  ['SPREADS_BPS', ''],
])

/** Variables that belong in no file, with the reason. */
export const neverKept: ReadonlyMap<string, string> = new Map([
  ['ADMIN_KEY', 'Not kept in this file: pass it to `deploy` from the shell, see operations/runbook/deploy.md.'],
])
