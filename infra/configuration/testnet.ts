/**
 * What a deployment on the public test chain sets otherwise than the defaults, as env.example
 * proposes it. Chain 10143 and its AUSD: docs.monad.xyz and the token's issuer; the provider's test
 * mode allows 60 calls a minute; Monad keeps 10 coins of an account in reserve, and reverts what
 * moves value out of them: one more is left for the gas of what is on its way.
 */
export const testnetValues: ReadonlyMap<string, string> = new Map([
  ['STACK', 'testnet'],
  ['IMAGE_TAG', 'testnet'],
  // QuickNode's, then the Monad Foundation's: docs.monad.xyz/developer-essentials/testnet.
  ['RPC_URLS', 'https://testnet-rpc.monad.xyz,https://rpc-testnet.monadinfra.com'],
  // Three blocks: a shorter pause asks more often than anything new is there.
  ['POLL_MS', '1000'],
  ['CHAIN_ID', '10143'],
  ['AUSD_ADDRESS', '0xa9012a055bd4e0eDfF8Ce09f960291C09D5322dC'],
  ['LANE_FLOOR_WEI', '11000000000000000000'],
  ['PROVIDER_URL', 'https://api.xendit.co'],
  ['PROVIDER_REQUESTS_PER_MINUTE', '60'],
  ['IDENTITY_API_URL', 'https://api.sumsub.com'],
  ['IDENTITY_APP_TOKEN', ''],
  ['GENESIS_HASH', ''],
  ['RATE_SOURCES', 'frankfurter,bnm,open-er-api'],
  // To be chosen by whoever deploys: pricing does not start without.
  ['SPREADS_BPS', ''],
])

/** What is kept in no file, and why. */
export const neverKept: ReadonlyMap<string, string> = new Map([
  ['ADMIN_KEY', 'Not kept here: given by the shell to `deploy` alone, see README.md.'],
])
