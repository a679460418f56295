import { type Address, maxUint128, parseEther } from 'viem'
import { laneRoles } from '#shared/chain/lane-roles'
import type { DeployFacts } from './facts'
import { contractRefusals } from './refusal'
import { type DeployStep, gasReckoned, type SentStep, senderOf } from './step'
import { type Todo, todosOf } from './todo'
import { termNames, type WantedDeployment } from './wanted'

/** What a deployment will do. If there are refusals, nothing is sent. */
export type Plan = {
  readonly refusals: readonly string[]
  readonly steps: readonly DeployStep[]
  readonly todos: readonly Todo[]
  readonly notes: readonly string[]
}

export const givenWei = parseEther('1000')

export function planFrom(facts: DeployFacts, wanted: WantedDeployment): Plan {
  const refusals = contractRefusals(facts, wanted)
  if (refusals.length > 0) return { refusals, steps: [], todos: [], notes: [] }
  const givings = givingsOf(facts, wanted)
  const given = givings.flatMap((step) => (step.do === 'give_native' ? [step.to] : []))
  const { steps, todos } = payable(sendsOf(facts, wanted), facts, wanted, given)
  return {
    refusals,
    steps: [...givings, ...steps],
    todos: [...todos, ...todosOf(facts, wanted, given)],
    notes: notesOf(facts, wanted),
  }
}

function givingsOf({ isAnvil, hasMulticall, ...facts }: DeployFacts, { testFunds }: WantedDeployment): DeployStep[] {
  if (!isAnvil || !testFunds) return []
  const poor = [facts.admin, facts.treasury, ...facts.lanes].filter(({ wei }) => wei < givenWei / 10n)
  return [
    ...(hasMulticall ? [] : [{ do: 'install_multicall3' } as const]),
    ...poor.map(({ address }) => ({ do: 'give_native', to: address }) as const),
  ]
}

function sendsOf(facts: DeployFacts, wanted: WantedDeployment): SentStep[] {
  const { token, line } = facts
  const missing = line?.rolesMissing ?? wanted.lanes.flatMap((lane) => laneRoles.map((role) => ({ lane, role })))
  const grants = missing.map(({ lane, role }) => ({ do: 'grant', role, to: lane }) as const)
  return [
    ...(token ? [] : [{ do: 'deploy_ausd' } as const]),
    ...(line ? [] : [{ do: 'deploy_credit_line' } as const]),
    ...(!line || line.adminHasRole ? grants : []),
    // Some tokens reduce even an unlimited allowance, so it is renewed long before it runs out.
    ...(line && line.treasuryAllowanceMicro >= maxUint128 ? [] : [{ do: 'approve_credit_line' } as const]),
    ...fundingOf(facts, wanted),
  ]
}

function fundingOf({ token, line, admin, treasury }: DeployFacts, wanted: WantedDeployment): SentStep[] {
  const mints = wanted.testFunds && (!token || token.mintable)
  const steps: SentStep[] = []
  const mint = (to: Address, amountMicro: bigint) => {
    if (amountMicro > 0n && mints) steps.push({ do: 'mint', to, amountMicro })
  }
  mint(treasury.address, wanted.treasuryAusdMicro - treasury.ausdMicro)
  const shortMicro = wanted.liquidityMicro - (line?.liquidityMicro ?? 0n)
  if (shortMicro <= 0n || (!mints && admin.ausdMicro < shortMicro)) return steps
  mint(admin.address, shortMicro - admin.ausdMicro)
  if ((line?.adminAllowanceMicro ?? 0n) < shortMicro) steps.push({ do: 'approve_funding', amountMicro: shortMicro })
  steps.push({ do: 'fund_liquidity', amountMicro: shortMicro })
  return steps
}

/** Drops the steps of senders that cannot pay for all of theirs. */
function payable(
  wantedSteps: readonly SentStep[],
  { admin, treasury, maxFeeWei }: DeployFacts,
  wanted: WantedDeployment,
  given: readonly Address[],
) {
  const todos: Todo[] = []
  const broke = new Set<Address>()
  for (const { address, wei } of [admin, treasury]) {
    const own = wantedSteps.filter((step) => senderOf(step, wanted) === address)
    const needWei = own.reduce((sum, step) => sum + gasReckoned(step) * maxFeeWei, 0n)
    if (wei >= needWei || given.includes(address) || broke.has(address)) continue
    broke.add(address)
    // The amount is twice the current need: the base fee moves, and funding the pool may come later.
    const who = address === admin.address ? 'admin' : 'treasury'
    todos.push({ send: 'native', to: address, who, amount: 2n * needWei - wei, why: 'for gas' })
  }
  const deploys = wantedSteps.some((step) => step.do === 'deploy_credit_line')
  // A contract without an address cannot be approved.
  const stalled = deploys && broke.has(admin.address)
  return {
    steps: stalled ? [] : wantedSteps.filter((step) => !broke.has(senderOf(step, wanted))),
    todos,
  }
}

function notesOf({ line }: DeployFacts, wanted: WantedDeployment): string[] {
  const terms = line?.terms
  if (!terms) return []
  return termNames
    .filter((name) => terms[name] !== wanted.terms[name])
    .map(
      (name) =>
        `${name} is ${terms[name]} in the deployed credit line and cannot be changed to ` + `${wanted.terms[name]}`,
    )
}
