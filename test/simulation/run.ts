import type { Hex } from 'viem'
import * as relayer from '../../services/chain-relayer/schema.store'
import { causeOf } from '../../services/gateway/reminders/auto-repay.store'
import * as gateway from '../../services/gateway/schema.store'
import { confirmMs, isOpen } from '../../services/payments/losses/report'
import * as payments from '../../services/payments/schema.store'
import * as payouts from '../../services/payouts/schema.store'
import { Chain } from './chain/chain'
import { dueAtOf, type Line, takenInCycle } from './chain/line'
import { bookIn } from './rows/refunds'
import { triesIn } from './rows/reminders'
import { audit, type Finding } from './world/audit'
import { Broker } from './world/broker'
import { type Choices, oneOf } from './world/choices'
import { startGateway } from './world/gateway'
import { startKeepers } from './world/keepers'
import { enter } from './world/loops'
import { startOperators } from './world/operator'
import { People } from './world/people'
import { Pricing } from './world/pricing'
import { openProviderIn } from './world/provider'
import { startRelayer } from './world/relayer'
import { type Copy, consumersOf, type Surroundings, startPayments, startPayouts } from './world/services'
import { treasury, type Wallet } from './world/wallets'
import { beginsAt, type Process, World } from './world/world'

export type Outcome = {
  readonly findings: readonly Finding[]
  readonly digest: number
  readonly steps: number
  readonly endedAfterMs: number
}

/** Returns the period in ms in which flows begin, so that their rate is the same in worlds of any size. */
const beginMs = (flows: number) => Math.max(25_000, flows * 625)
/** Time in ms from the last new flow to the last fault; then every flow must end. */
const calmAfterMs = 55_000
const endsAfterMs = 3_600_000
const lookEveryMs = 4_000
const quietLooks = 5

const resting = ['credited', 'revoked', 'refunded', 'accepted', 'review', 'expired', 'replaced']

/** Time in ms after a due date in which the gateway orders the last try before it. */
const lastTryMs = 12_000

function underWay({ world, broker, chain }: Surroundings, people: People): string | undefined {
  const { rows } = world
  const { contract, latest } = chain
  const pauses = contract.pausesAt(latest.number)
  const isDueSoon = (line: Line) =>
    line.openedAt > 0n && takenInCycle(line) < line.max && world.now < Number(dueAtOf(line, pauses)) * 1_000 + lastTryMs
  if (people.pending > 0) return 'people'
  if (pauses.since > 0n) return 'a pause of the credit line'
  if (broker.waiting > 0) return `${broker.waiting} messages`
  const payment = rows.payments.find(
    ({ state, reason, held, holdEndedAt }) =>
      reason === 'awaiting_rate' ||
      !(resting.includes(state) || (state === 'repaid' && !(held && holdEndedAt === null))),
  )
  if (payment) return `${payment.kind} ${payment.id} in ${payment.state}`
  const cashout = rows.cashouts.find(({ state }) => !['expired', 'paid', 'failed', 'returned'].includes(state))
  if (cashout) return `cash-out ${cashout.id} in ${cashout.state}`
  const operation = rows.operations.find(({ state }) => state === 'waiting' || state === 'assigned')
  if (operation) return `${operation.kind} ${operation.id} in ${operation.state}`
  // A look that was planned in the calm repeats what is known.
  const lastMs = world.calmFrom + confirmMs
  const look = rows.refunds.find(
    ({ status, nextCheckAt }) => nextCheckAt !== null && !isOpen({ status }) && nextCheckAt.getTime() < lastMs,
  )
  if (look) return `a look at ${look.id}`
  const wallet = rows.wallets.find(({ retryAt }) => retryAt !== null)
  if (wallet) return `freeze of ${wallet.wallet}`
  const unanswered = triesIn(rows).find(({ outcome }) => outcome === null)
  if (unanswered) return `automatic repayment ${causeOf(unanswered)}`
  const line = contract.lines.subjects.map((one) => contract.lineAt(one as Hex, latest.number)).find(isDueSoon)
  if (line) return `the debt of ${line.wallet}, which is repaid automatically`
  for (const { outbox } of [payments, payouts, relayer.messaging, gateway])
    if (rows.outbox(outbox).by('left', 'left').length > 0) return 'an outbox'
  return undefined
}

/** Returns true if a transaction with an automatic repayment is stored whose bytes no node has been given. */
const isAutoRepaymentUnsent = ({ world: { rows }, chain }: Surroundings): boolean =>
  rows.operations
    .by('state', 'assigned')
    .filter(({ kind }) => kind === 'autorepay')
    .some(({ lane, nonce }) => rows.attempts.by('nonce', `${lane} ${nonce}`).every(({ hash }) => !chain.isSent(hash)))

export function runWorld(options: {
  readonly choices: Choices
  readonly flows: number
  readonly wallets: readonly Wallet[]
  readonly saw: (sight: string) => void
  readonly story?: (line: string) => void
}): Outcome {
  const { choices, flows, wallets, saw, story } = options
  const copies = new Map<string, Copy[]>()
  const starts: Record<string, (process: Process) => Copy> = {
    payments: (process) => startPayments(around, process),
    payouts: (process) => startPayouts(around, process),
    gateway: (process) => startGateway(around, process),
    'chain-relayer': (process) => startRelayer(around, process, () => Math.max(1, copies.get('chain-relayer')!.length)),
  }
  const start = (service: string, name: string) => {
    const process: Process = { service, name, isAlive: true, frozenUntil: 0 }
    world.current = process
    copies.set(service, [...(copies.get(service) ?? []), starts[service]!(process)])
    world.current = undefined
    world.tell(`${name} starts`)
  }
  let restarts = 0
  const onCrash = (gone: Process) => {
    saw('a process was killed')
    const { service } = gone
    if (service === 'chain-relayer' && isAutoRepaymentUnsent(around))
      saw('a process was killed while an automatic repayment was stored and not sent')
    broker.forget(gone)
    copies.set(
      service,
      copies.get(service)!.filter(({ process }) => process !== gone),
    )
    restarts += 1
    const name = `${service} ${restarts + 2}`
    world.after(300 + oneOf(choices, 2_500), undefined, () => start(service, name))
  }
  const world = new World(choices, story, saw, onCrash)
  world.calmFrom = beginsAt + beginMs(flows) + calmAfterMs
  enter(world)
  bookIn(payments.journal)
  const broker = new Broker(world, consumersOf)
  const around: Surroundings = {
    world,
    broker,
    chain: new Chain(world, treasury),
    pricing: new Pricing(world),
    provider: openProviderIn(world, (message) => void broker.publish(message)),
    fates: new Map(),
  }
  for (const { address, authorizations } of wallets)
    around.chain.contract.funds.set(address, BigInt(authorizations[0]!.value) * 2n)
  for (const service of Object.keys(starts)) for (const copy of [1, 2]) start(service, `${service} ${copy}`)
  const people = new People(around, wallets, beginMs(flows), (service) => copies.get(service) ?? [])
  for (let flow = 0; flow < flows; flow++) people.begin(flow)
  startOperators(around, (service) => copies.get(service) ?? [])
  startKeepers(around)

  let quiet = 0
  let isOver = false
  const look = () => {
    const isQuiet = world.isCalm && underWay(around, people) === undefined
    quiet = isQuiet ? quiet + 1 : 0
    isOver = quiet >= quietLooks || world.now > beginsAt + endsAfterMs
    if (!isOver) world.after(lookEveryMs, undefined, look)
  }
  look()
  while (!isOver && world.step());
  const left = underWay(around, people)
  const findings = [...(left ? [`did not finish: ${left}`] : []), ...audit(around)]
  const endedAfterMs = world.now - beginsAt
  return { findings, digest: world.digest, steps: world.steps, endedAfterMs }
}
