import { formatEther, formatUnits } from 'viem'
import type { Deployment } from './deploy'
import type { DeployFacts } from './facts'
import { wordsOf } from './todo'
import type { WantedDeployment } from './wanted'

/** Returns the exit code: 0 if complete, 1 if work remains, 2 if refused. */
export const exitCodeOf = ({ plan }: Deployment): 0 | 1 | 2 =>
  plan.refusals.length > 0 ? 2 : plan.steps.length + plan.todos.length > 0 ? 1 : 0

/** Formats the outcome. It contains no key and no endpoint, whose path may be a key. */
export function report(deployment: Deployment, wanted: WantedDeployment): string {
  const { plan, facts } = deployment
  if (plan.refusals.length > 0)
    return ['refused; no further transactions were sent:', ...plan.refusals.map((one) => `  ${one}`)].join('\n')
  return [
    ...(facts ? [holdings(facts)] : []),
    ...plan.notes.map((note) => `note: ${note}`),
    ...(plan.steps.length > 0 ? [`planned steps, not sent: ${plan.steps.length}`] : []),
    ...environmentOf(deployment, wanted),
    ...todoList(deployment, wanted),
  ].join('\n')
}

function holdings({ admin, treasury, lanes, line }: DeployFacts): string {
  const rows = [
    ['admin', admin],
    ['treasury', treasury],
    ...lanes.map((lane, index) => [`lane ${index}`, lane] as const),
  ] as const
  const held = rows.map(
    ([who, { address, wei, ausdMicro }]) =>
      `  ${who.padEnd(9)} ${address} ${formatEther(wei)} MON, ${formatUnits(ausdMicro, 6)} AUSD`,
  )
  const pool = line ? [`  lending pool ${formatUnits(line.liquidityMicro, 6)} AUSD`] : []
  return ['balances', ...held, ...pool].join('\n')
}

function environmentOf({ book, facts }: Deployment, wanted: WantedDeployment): string[] {
  const { line, token } = facts ?? {}
  if (!line || !token) return []
  return [
    'env',
    `  CHAIN_ID=${book.chainId}`,
    `  GENESIS_HASH=${book.genesisHash}`,
    `  AUSD_ADDRESS=${token.address}`,
    `  CREDIT_LINE_ADDRESS=${line.address}`,
    ...(line.deployBlock === null ? [] : [`  DEPLOY_BLOCK=${line.deployBlock}`]),
    `  TREASURY_ADDRESS=${wanted.treasury}`,
    '  LANE_MIN_BALANCE_WEI=11000000000000000000',
  ]
}

function todoList({ plan }: Deployment, wanted: WantedDeployment): string[] {
  if (plan.todos.length === 0) return plan.steps.length === 0 ? ['complete: nothing is missing'] : []
  return [
    'do these by hand, then run again:',
    ...plan.todos.map((todo, index) => `  ${index + 1}. ${wordsOf(todo, wanted.ausd)}`),
  ]
}
