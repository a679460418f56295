import { eq, inArray, sql } from 'drizzle-orm'
import { type Lane, lanes, leaseLanes, transactions } from '../../../services/chain-relayer/lanes/lane.store'
import { postponeOperation } from '../../../services/chain-relayer/operations/operation.store'
import { operations } from '../../../services/chain-relayer/operations/operation.table'
import { newNumber, walletOf } from '../copies/payments'
import { newLane, newOperations, newVerdict, openRelayer, type Relayer } from '../copies/relayer'
import type { Result } from '../order'
import type { Race, Stage } from '../race'

const said = (result: Result): string => ('error' in result ? `threw ${result.error}` : JSON.stringify(result.value))

/** Returns the assignments, whichever instance made them. */
async function assignments({ db }: Stage, ids: readonly string[]): Promise<string[]> {
  const carried = await db
    .select({ lane: transactions.lane, nonce: transactions.nonce, ids: transactions.operationIds })
    .from(transactions)
    .where(sql`${transactions.operationIds} ?| ${sql.param([...ids])}::text[]`)
  const rows = await db
    .select()
    .from(operations)
    .where(inArray(operations.id, [...ids]))
  const gaps = await db
    .select({ lane: lanes.address })
    .from(lanes)
    .where(
      sql`${lanes.nextNonce} <> (select count(*) from ${transactions} where ${transactions.lane} = ${lanes.address})`,
    )
  return [
    ...ids.flatMap((id) => {
      const many = carried.filter((one) => one.ids.includes(id)).length
      return many === 1 ? [] : [`an operation is in ${many} transactions`]
    }),
    ...rows.flatMap(({ state, lane, nonce }) =>
      carried.some((one) => one.lane === lane && one.nonce === nonce)
        ? []
        : [`an operation is ${state} but has another nonce`],
    ),
    ...gaps.map(({ lane }) => `a nonce of ${lane} has no transaction`),
  ]
}

/** Ground of an order; `noted` has the lane's transactions at its takeover. */
type Ground = { readonly stage: Stage; noted?: number }
type Assign = (relayer: Relayer, lane: Lane, ground: Ground) => Promise<unknown>

const transactionsOf = ({ db }: Stage, { address }: Pick<Lane, 'address'>) =>
  db.$count(transactions, eq(transactions.lane, address))

function assigning(options: {
  name: string
  places: readonly [number, number]
  works: readonly [Assign, Assign]
}): Race {
  const { name, places, works } = options
  return {
    name,
    open: async (stage) => {
      const copies = stage.sides.map(openRelayer)
      return async () => {
        const ids = await newOperations(stage.db)
        const held: Lane[] = []
        for (const at of [1, 0]) held[at] = await newLane(stage.db, copies[at]!, places[at]!)
        const ground: Ground = { stage }
        const work = (at: 0 | 1) => () => works[at](copies[at]!, held[at]!, ground)
        return {
          works: [work(0), work(1)],
          judge: async (results) => {
            const outcome = `${results.map(said).join(' | ')} transactions`
            const wrong = await assignments(stage, ids)
            const given = results.map(said).map(Number)
            if (given[0]! + given[1]! !== 1) wrong.push(`${outcome} were stored`)
            const { noted } = ground
            if (noted !== undefined && (await transactionsOf(stage, held[1]!)) !== noted + given[1]!)
              wrong.push('the previous holder stored a transaction after the takeover of its lane')
            return { outcome, wrong }
          },
        }
      }
    },
  }
}

/** Takes over a lane whose holder was frozen until its lease expired. Stored times have milliseconds. */
const takesOver: Assign = async ({ assign, context }, { address }, ground) => {
  await context.database.run((db) =>
    db.update(lanes).set({ leasedUntil: sql`now() - interval '1 s'` }).where(eq(lanes.address, address)),
  )
  const [lane] = await leaseLanes(context.database, [address], context.holder)
  ground.noted = await transactionsOf(ground.stage, { address })
  return lane ? assign(lane, 0) : 0
}

// guard: a held lane is not leased to another instance
const oneLane: Race = {
  name: 'two instances take one free lane',
  open: async (stage) => {
    const copies = stage.sides.map(openRelayer)
    return async () => {
      const { address, epoch } = await newLane(stage.db, copies[0]!, 0)
      await stage.db.update(lanes).set({ holder: null, leasedUntil: null })
      const work = (at: 0 | 1) => async () => {
        const { database, holder } = copies[at]!.context
        return (await leaseLanes(database, [address], holder)).length
      }
      return {
        works: [work(0), work(1)],
        judge: async (results) => {
          const [row] = await stage.db.select().from(lanes).where(eq(lanes.address, address))
          const outcome = results.map(said).join(' | ')
          const isOne = ['0 | 1', '1 | 0'].includes(outcome) && row!.epoch === epoch + 1
          return { outcome, wrong: isOne ? [] : [`${outcome} have it, epoch ${row!.epoch}`] }
        },
      }
    }
  },
}

// guard: unique index chain_relayer.operation_once
// together with: unique index chain_relayer.operation_pkey
const oneOrder: Race = {
  name: 'one credit order, received as two messages',
  open: async (stage) => {
    const copies = stage.sides.map(openRelayer)
    return async () => {
      const number = newNumber()
      const refId = `pay_${String(number).padStart(22, 'o')}`
      const work = (at: 0 | 1) => () => copies[at]!.order(refId, walletOf(number), `order ${number} ${at}`)
      return {
        works: [work(0), work(1)],
        judge: async (results) => {
          const rows = await stage.db.select().from(operations).where(eq(operations.cause, refId))
          await stage.db.update(operations).set({ state: 'settled' }).where(eq(operations.cause, refId))
          const outcome = `${results.map(said).join(' | ')}, operations: ${rows.length}`
          const isOne = outcome === '"done" | "done", operations: 1'
          return { outcome, wrong: isOne ? [] : [outcome] }
        },
      }
    }
  },
}

/** Returns a race of two verdicts, of which the older must not be the last. */
const twoVerdicts = (options: {
  name: string
  /** True if the instance with the newer verdict has postponed the older one. */
  isPutOff: boolean
}): Race => ({
  name: options.name,
  // Only locks and decisions are held. Both verdicts are read at once, so the order of reads has no effect.
  turns: ({ text }) =>
    /^(commit|select pg_advisory|(insert into|(with moved as \()?update) "chain_relayer"."operation")/.test(text),
  open: async (stage) => {
    const copies = stage.sides.map(openRelayer)
    return async () => {
      const wallet = walletOf(newNumber())
      const older = await newVerdict(stage.db, wallet, 1)
      const held: Lane[] = []
      for (const at of [0, 1]) held[at] = await newLane(stage.db, copies[at]!, at)
      return {
        works: [
          () => copies[0]!.assign(held[0]!, 0),
          async () => {
            const { context, assign } = copies[1]!
            if (options.isPutOff) await context.database.run((db) => postponeOperation(db, older, 60_000, 0))
            await context.database.run((db) => newVerdict(db as never, wallet, 2))
            return assign(held[1]!, 1)
          },
        ],
        judge: async (results) => {
          const rows = await stage.db.select().from(operations).where(eq(operations.wallet, wallet))
          const carried = rows.filter(({ lane }) => lane !== null)
          await stage.db.update(operations).set({ state: 'settled' }).where(eq(operations.wallet, wallet))
          const states = rows.map(({ state }) => state).sort()
          const wrong = [
            ...(carried.length > 1 ? ['both verdicts are in progress'] : []),
            ...carried
              .filter(({ state }) => state !== 'assigned')
              .map(({ state }) => `a verdict in progress is ${state}`),
          ]
          return { outcome: `${results.map(said).join(' | ')}: ${states}`, wrong }
        },
      }
    }
  },
})

export const laneRaces: readonly Race[] = [
  oneLane,
  oneOrder,
  // guard: only one verdict of a wallet is in progress at a time
  twoVerdicts({
    name: 'two verdicts on one wallet, each assigned by one instance',
    isPutOff: false,
  }),
  // guard: verdicts of a wallet are assigned one after another
  twoVerdicts({
    name: 'two verdicts on one wallet, one of them postponed',
    isPutOff: true,
  }),
  // guard: an operation gets a nonce once, while it is waiting
  assigning({
    name: 'two instances assign the same operations, each to its own lane',
    places: [0, 1],
    works: [({ assign }, lane) => assign(lane, 0), ({ assign }, lane) => assign(lane, 1)],
  }),
  // guard: a nonce is drawn by the holder of its lane
  // together with: a nonce is drawn under the newest epoch of its lane
  // together with: a nonce is drawn only during the lease
  assigning({
    name: 'an instance assigns operations while another takes over its lane',
    places: [0, 0],
    works: [({ assign }, lane) => assign(lane, 0), takesOver],
  }),
]
