import { maxUint256, parseEther } from 'viem'
import type { DeployFacts, LineFacts, TokenFacts } from '#infra/deploy/facts'
import type { WantedDeployment } from '#infra/deploy/wanted'

export const at = (digit: string) => `0x${digit.repeat(40)}` as const
export const [ausd, lineAt, admin, treasury, lane] = [at('1'), at('2'), at('3'), at('4'), at('5')]
const terms = {
  holdSeconds: 60n,
  minCycleSeconds: 60n,
  minDebt: 1_000_000n,
  termSeconds: 1_800n,
  graceSeconds: 86_400n,
  initialRatioBps: 5_000n,
}
export const wanted: WantedDeployment = {
  chainId: 10_143,
  genesisHash: 'unchecked',
  ausd,
  creditLine: 'deploy',
  deployBlock: 'find',
  admin,
  treasury,
  lanes: [lane],
  terms,
  laneWei: parseEther('12'),
  testFunds: false,
  treasuryAusdMicro: 1_000n,
  liquidityMicro: 500n,
}
export const token: TokenFacts = {
  address: ausd,
  hasCode: true,
  mintable: false,
  domain: { name: 'Agora Dollar', version: '1', chainId: 10_143n, verifyingContract: ausd },
  // The separator was computed by hand: keccak256(abi.encode(typehash, hashed name, hashed version, chain id,
  // address)).
  separator: '0x99774118b5832a7fa4cfda4afbe12b75f3bd4593d9f69094bd25b10f003c8fd1',
}
export const line: LineFacts = {
  address: lineAt,
  hasCode: true,
  version: 4n,
  token: ausd,
  treasury,
  terms,
  deployBlock: 7,
  adminHasRole: true,
  isPaused: false,
  liquidityMicro: 500n,
  rolesMissing: [],
  treasuryAllowanceMicro: maxUint256,
  adminAllowanceMicro: 0n,
}
export const rich = parseEther('100')
export const complete: DeployFacts = {
  chainId: 10_143,
  genesisHash: '0xaa',
  isAnvil: false,
  blockNumber: 9n,
  hasMulticall: true,
  maxFeeWei: 100_000_000_000n,
  token,
  line,
  admin: { address: admin, wei: rich, ausdMicro: 0n },
  treasury: { address: treasury, wei: rich, ausdMicro: 1_000n },
  lanes: [{ address: lane, wei: rich, ausdMicro: 0n }],
}
