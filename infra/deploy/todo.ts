import { type Address, formatEther, formatUnits } from 'viem'
import { testAusd } from '#shared/chain/chain-id'
import { multicall3 } from '#shared/chain/client'
import type { DeployFacts } from './facts'
import { grantData } from './step'
import type { WantedDeployment } from './wanted'

/** Task for the operator. `amount` is in wei for `native`, in micro-AUSD for `ausd`. */
export type Todo =
  | {
      readonly send: 'native' | 'ausd'
      readonly to: Address
      readonly who: 'admin' | 'treasury' | 'lane'
      readonly amount: bigint
      readonly why: string
    }
  | { readonly say: string }

/** Returns the operator's tasks. `given` are accounts that anvil is about to fund. */
export function todosOf(facts: DeployFacts, wanted: WantedDeployment, given: readonly Address[]): Todo[] {
  const { line } = facts
  const says: string[] = []
  if (!facts.hasMulticall && !(facts.isAnvil && wanted.testFunds))
    says.push(`no Multicall3 at ${multicall3}, which the services need: deploy it there`)
  if (line && !line.adminHasRole)
    for (const { lane, role } of line.rolesMissing)
      says.push(
        `ADMIN_KEY ${wanted.admin} lacks DEFAULT_ADMIN_ROLE on ${line.address}: its admin must ` +
          `grant ${role} to lane ${lane}, calldata ${grantData(role, lane)}`,
      )
  if (line?.isPaused) says.push(`credit line ${line.address} is paused: a holder of PAUSER_ROLE must call unpause()`)
  if (line?.deployBlock === null)
    says.push('set DEPLOY_BLOCK: the node could not determine the deploy block of the credit line')
  return [...sendTodos(facts, wanted, given), ...says.map((say) => ({ say }))]
}

function sendTodos(facts: DeployFacts, wanted: WantedDeployment, given: readonly Address[]): Todo[] {
  const mints = wanted.testFunds && (!facts.token || facts.token.mintable)
  const lanes = facts.lanes
    .filter(({ address, wei }) => wei < wanted.laneWei && !given.includes(address))
    .map(({ address, wei }) => ({
      send: 'native' as const,
      to: address,
      who: 'lane' as const,
      amount: wanted.laneWei - wei,
      why: `it holds ${formatEther(wei)}, LANE_WEI requires ${formatEther(wanted.laneWei)}`,
    }))
  const treasuryShort = wanted.treasuryAusdMicro - facts.treasury.ausdMicro
  const poolShort = wanted.liquidityMicro - (facts.line?.liquidityMicro ?? 0n)
  const adminShort = poolShort - facts.admin.ausdMicro
  const ausd = { send: 'ausd' } as const
  return [
    ...lanes,
    ...(treasuryShort > 0n && !mints
      ? [
          {
            ...ausd,
            to: wanted.treasury,
            who: 'treasury',
            amount: treasuryShort,
            why: 'to credit top-ups',
          } as const,
        ]
      : []),
    ...(poolShort > 0n && adminShort > 0n && !mints
      ? [
          {
            ...ausd,
            to: wanted.admin,
            who: 'admin',
            amount: adminShort,
            why: 'the next run moves it to the lending pool',
          } as const,
        ]
      : []),
  ]
}

/** Faucet of the real AUSD on chain 10143. It gives 10,000 AUSD per call, with 60 s between calls. */
const faucet = '0xd236c18D274E54FAccC3dd9DDA4b27965a73ee6C'

export function wordsOf(todo: Todo, ausd: Address | 'deploy'): string {
  if ('say' in todo) return todo.say
  const { to, who, amount, why } = todo
  if (todo.send === 'native') return `send ${formatEther(amount)} MON to ${who} ${to}: ${why}`
  const words = `send ${formatUnits(amount, 6)} AUSD to ${who} ${to}: ${why}`
  if (ausd === 'deploy' || ausd.toLowerCase() !== testAusd.toLowerCase()) return words
  return `${words}; faucet ${faucet} requestFunds(${to}) gives 10,000 per minute`
}
