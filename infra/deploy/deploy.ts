import { type Address, getContractAddress, numberToHex } from 'viem'
import { multicall3Runtime } from '#infra/contracts/artifacts.gen'
import { pause } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { multicall3 } from '#shared/chain/client'
import { type AddressBook, loadAddresses, type Pending, saveAddresses } from './addresses'
import { findDeployBlock } from './deploy-block'
import type { DeployFacts } from './facts'
import { estimateGas, type GasLimits, gasNotes, gasRefusals } from './gas'
import { type DeployNode, openNode, withMulticall } from './node'
import { observe } from './observe'
import { givenWei, type Plan, planFrom } from './plan'
import { chainRefusals, mayBeginAnew } from './refusal'
import { type FinalOutcome, prepare, untilFinal } from './send'
import { callOf, type DeployStep, type KnownAddresses, type SentStep } from './step'
import type { Signers, WantedDeployment } from './wanted'

export type Job = {
  readonly wanted: WantedDeployment
  readonly signers: Signers
  readonly rpcUrls: readonly string[]
  readonly addressesFile: string
  readonly finalWithinMs: number
  readonly dryRun: boolean
  /** Gas limits to check, by default those of this release. */
  readonly gasLimits?: GasLimits
  readonly say: (line: string) => void
}

export type Deployment = {
  readonly plan: Plan
  readonly facts: DeployFacts | null
  readonly book: AddressBook
}

type Run = {
  readonly job: Job
  node: DeployNode
  book: AddressBook
  nonceLeast: Map<Address, number>
  /** Block of the latest final step; an endpoint that has not reached it still returns the state before the step. */
  finalBlock: bigint
}

/** `docker compose restart` runs this program while the chain is still being restored. */
const answersWithinMs = 60_000

/** Sends the missing steps. Throws when a step reverts or is not final in time; the next run continues from there. */
export async function deploy(job: Job): Promise<Deployment> {
  const { wanted, say } = job
  const node = await openNode(job.rpcUrls, answersWithinMs)
  const { chainId, genesisHash } = node.chain
  const loaded = loadAddresses(job.addressesFile)
  const fresh: AddressBook = { chainId, genesisHash }
  const refusals = chainRefusals(node.chain, wanted, loaded)
  if (refusals.length > 0) return { plan: { refusals, steps: [], todos: [], notes: [] }, facts: null, book: fresh }
  const stale = loaded && loaded.genesisHash !== genesisHash && mayBeginAnew(node.chain, wanted)
  if (stale) say('the chain was reset: starting a new addresses file')
  const book: AddressBook = loaded && !stale ? loaded : fresh
  const run: Run = { job, node, book, nonceLeast: new Map(), finalBlock: 0n }
  if (book.pending && !job.dryRun) await finish(run, book.pending)
  else if (book.pending) say(`transaction from an earlier run still pending: ${book.pending.step}`)
  return advance(run)
}

const stepsMax = 500
const lagChecksMax = 60

async function advance(run: Run): Promise<Deployment> {
  const { job } = run
  const paidOnce = openPayments()
  const done = new Set<string>()
  let lags = 0
  for (let count = 0; count < stepsMax; count++) {
    const facts = await factsNow(run)
    const plan = paidOnce(planFrom(facts, job.wanted), done)
    const [step] = plan.steps
    if (count === 0) for (const one of plan.steps) job.say(`planned: ${nameOf(one)}`)
    // A lagging endpoint still shows the state before the step; repeating it could pay twice.
    if (facts.blockNumber < run.finalBlock || (step && done.has(nameOf(step)))) {
      if (++lags > lagChecksMax)
        throw new Error(
          `${step ? nameOf(step) : 'the last step'} is final, but the endpoints still return the state before it: run again`,
        )
      await pause(300)
      continue
    }
    if (!step || job.dryRun || plan.refusals.length > 0) {
      const checked = isReady(plan, facts) ? await withGas(run, plan, facts) : plan
      if (!job.dryRun && checked.refusals.length === 0) record(run, facts)
      return { plan: checked, facts, book: run.book }
    }
    await act(run, step)
    done.add(nameOf(step))
  }
  throw new Error(`deployment still incomplete after ${stepsMax} steps`)
}

/**
 * Returns a function that leaves each payment of a plan its first amount, and takes it out once it is done: while a
 * run pays, a running stack spends and its users draw, so that there is always some AUSD missing.
 */
function openPayments(): (plan: Plan, done: ReadonlySet<string>) => Plan {
  const first = new Map<string, DeployStep>()
  return (plan, done) => {
    const steps = plan.steps.flatMap((step) => {
      if (!('amountMicro' in step)) return [step]
      const purpose = nameOf({ ...step, amountMicro: 0n })
      const payment = first.get(purpose) ?? step
      first.set(purpose, payment)
      return done.has(nameOf(payment)) ? [] : [payment]
    })
    return { ...plan, steps }
  }
}

/** Gas estimates need roles, allowance and AUSD in place. */
const isReady = ({ refusals, steps }: Plan, { token, line, treasury }: DeployFacts): boolean =>
  refusals.length === 0 &&
  steps.length === 0 &&
  token !== null &&
  line !== null &&
  line.rolesMissing.length === 0 &&
  !line.isPaused &&
  treasury.ausdMicro > 0n

async function withGas({ job, node }: Run, plan: Plan, facts: DeployFacts): Promise<Plan> {
  const estimates = await estimateGas(node, facts, job.wanted, job.signers)
  const refusals = gasRefusals(estimates, job.gasLimits)
  return { ...plan, refusals, notes: [...plan.notes, ...gasNotes(estimates)] }
}

async function factsNow(run: Run): Promise<DeployFacts> {
  const { wanted, rpcUrls } = run.job
  const places = placesOf(run)
  const block = await deployBlockOf(run, places.creditLine)
  const facts = await observe(run.node, wanted, places, block)
  if (facts.hasMulticall) run.node = withMulticall(run.node, rpcUrls)
  return facts
}

function placesOf({ job: { wanted }, book }: Run): KnownAddresses {
  const ausd = wanted.ausd === 'deploy' ? book.ausd : wanted.ausd
  const creditLine = wanted.creditLine === 'deploy' ? book.creditLine : wanted.creditLine
  return { ...(ausd && { ausd }), ...(creditLine && { creditLine }) }
}

async function deployBlockOf(run: Run, creditLine: Address | undefined): Promise<number | null> {
  const { wanted } = run.job
  if (!creditLine) return null
  if (run.book.creditLine === creditLine && run.book.deployBlock !== undefined) return run.book.deployBlock
  return wanted.deployBlock === 'find' ? findDeployBlock(run.node, creditLine) : wanted.deployBlock
}

async function act(run: Run, step: DeployStep): Promise<void> {
  const { node, job } = run
  if (step.do === 'give_native') await node.tell('anvil_setBalance', [step.to, numberToHex(givenWei)])
  else if (step.do === 'install_multicall3') await node.tell('anvil_setCode', [multicall3, multicall3Runtime])
  else await send(run, step)
  job.say(`done: ${nameOf(step)}`)
}

async function send(run: Run, step: SentStep): Promise<void> {
  const { node, job } = run
  const call = callOf(step, placesOf(run), job.wanted)
  const nonceLeast = run.nonceLeast.get(call.from) ?? 0
  const pending = await prepare(node, job.signers, { step: step.do, call, nonceLeast })
  failpoint(`deploy:signed:${step.do}`)
  keep(run, { ...run.book, pending })
  failpoint(`deploy:recorded:${step.do}`)
  await finish(run, pending)
}

async function finish(run: Run, pending: Pending): Promise<void> {
  const { node, job } = run
  const outcome = await untilFinal(node, job.signers, pending, {
    withinMs: job.finalWithinMs,
    keep: (raised) => keep(run, { ...run.book, pending: raised }),
  })
  failpoint(`deploy:final:${pending.step}`)
  run.nonceLeast.set(pending.from, pending.nonce + 1)
  if (outcome.final === 'done' && outcome.blockNumber > run.finalBlock) run.finalBlock = outcome.blockNumber
  const { pending: _, ...after } = run.book
  Object.assign(after, await placesFrom(run, pending, outcome))
  keep(run, after)
  if (outcome.final === 'reverted') throw new Error(`${pending.step} reverted in transaction ${outcome.hash}`)
  if (outcome.final === 'superseded')
    job.say(`${pending.step} was superseded by another transaction of ${pending.from}`)
}

/**
 * Returns the addresses of a step. If another transaction of ours took the nonce and created a contract there (two
 * concurrent runs with different fees for the same bytes), that contract is used.
 */
async function placesFrom({ node }: Run, pending: Pending, outcome: FinalOutcome) {
  const { step, from, nonce } = pending
  if (outcome.final === 'reverted' || !step.startsWith('deploy_')) return {}
  const at = getContractAddress({ from, nonce: BigInt(nonce) })
  if (outcome.final === 'superseded' && !(await node.reader.getCode({ address: at }))) return {}
  if (step === 'deploy_ausd') return { ausd: at }
  const block = outcome.final === 'done' ? { deployBlock: Number(outcome.blockNumber) } : {}
  return { creditLine: at, ...block }
}

function record(run: Run, { token, line }: DeployFacts): void {
  const { treasury, lanes } = run.job.wanted
  const { chainId, genesisHash } = run.book
  keep(run, {
    chainId,
    genesisHash,
    ...(line?.deployBlock == null ? {} : { deployBlock: line.deployBlock }),
    ...(token && { ausd: token.address }),
    ...(line && { creditLine: line.address }),
    treasury,
    lanes: [...lanes],
  })
}

function keep(run: Run, book: AddressBook): void {
  run.book = book
  saveAddresses(run.job.addressesFile, book)
}

/** Returns a name that is unique within a plan. */
export const nameOf = ({ do: action, ...rest }: DeployStep): string =>
  [action, ...Object.values(rest).map(String)].join(' ')
