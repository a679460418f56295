import { BaseError, type Hex, hashMessage } from 'viem'
import { answerErasure } from '#platform/bus/erasing'
import { answerPause } from '#platform/bus/pausing'
import { type Handler, handler } from '#platform/bus/serve'
import { countDead } from '#platform/db/dead-letter.store'
import { outboxLag } from '#platform/db/outbox.store'
import { agesOf } from '#platform/metrics/state-limits'
import { claimsOf } from '#shared/chain/claims'
import { canonical, type GivenAuthorization, unwrapped } from '#shared/chain/given-authorization'
import * as questions from '#shared/messages/chain'
import { personErasures } from '#shared/messages/person'
import { type Answer, ok, refuse } from '#shared/refusals'
import { needsContract } from '../chain/authorization'
import type { Context } from '../context'
import { findLanes } from '../lanes/lane.store'
import { erasure } from '../operations/erase'
import { limitsOf } from '../operations/operation'
import { countOpen, countWatched, oldestOperations } from '../operations/operation.store'
import { revertedGasToday } from '../operations/reverted-gas.store'
import { recentTakes } from '../operations/wallet.store'
import { deadLetters, outbox, pauses } from '../schema.store'
import { answerGivebacks } from '../unsolicited-deposits/giveback'
import { readActivity, readItem } from './activity'
import { publicConfigReader } from './public-config'
import { readHold, readRef } from './reads'
import { createSend, refusalOfSigner, signerFacts } from './send'
import { treasuryReader } from './treasury'

export const answersOf = (
  context: Context,
  readTreasury = treasuryReader(context),
  readTerms = publicConfigReader(context),
): Handler[] => [
  handler(questions.ChainTerms, () => unlessUnreadable(context, async () => ok(await readTerms()))),
  handler(questions.ChainAccount, ({ wallet }) =>
    unlessUnreadable(context, async () => ok(await context.account(wallet))),
  ),
  handler(questions.ChainHold, ({ refId }) =>
    unlessUnreadable(context, async () => {
      const hold = await readHold(context, refId)
      return hold ? ok(hold) : refuse('chain_unavailable')
    }),
  ),
  handler(questions.ChainRef, ({ refId }) =>
    unlessUnreadable(context, async () => {
      const state = await readRef(context, refId)
      return state ? ok({ state }) : refuse('chain_unavailable')
    }),
  ),
  handler(questions.ChainTreasury, () =>
    unlessUnreadable(context, async () => {
      const treasury = await readTreasury()
      return treasury ? ok(treasury) : refuse('chain_unavailable')
    }),
  ),
  handler(questions.AuthorizationCheck, ({ authorization }) =>
    unlessUnreadable(context, async () => {
      const signed = canonical(authorization)
      const { database, settings } = context
      const from = signed.from.toLowerCase() as Hex
      const { facts, counted } = await factsAndTakes(context, signed)
      const refused = refusalOfSigner(facts, signed)
      if (refused) return refuse(refused)
      const today = await database.read((db) => revertedGasToday(db, [from]))
      if (today.pausedSince) return refuse('relaying_paused', today.pausedSince)
      if (today.weiOf(from) >= settings.gasBudgetWei) return refuse('gas_budget_spent')
      const byContract = await needsContract(context.contracts, signed)
      return ok({ free: String(facts.freeMicro), counted, byContract })
    }),
  ),
  handler(questions.SignatureCheck, ({ wallet, text, signature }) =>
    unlessUnreadable(context, async () => {
      if (!/^0x([0-9a-fA-F]{2}){1,4096}$/.test(signature)) return ok({ valid: false })
      const signer = wallet.toLowerCase() as Hex
      const asked = { signer, digest: hashMessage(text), signature: unwrapped(signature as Hex) }
      return ok({ valid: await context.isAccepted(asked) })
    }),
  ),
  handler(questions.SendCreate, ({ wallet, authorization, ...more }) =>
    unlessUnreadable(context, () => createSend(context, wallet, canonical(authorization), more)),
  ),
  answerPause(context, {
    question: questions.RelayingPause,
    table: pauses,
    what: 'relaying',
    changed: context.wake,
  }),
  answerGivebacks(context),
  answerErasure(context, personErasures['chain-relayer'], erasure, {
    claimsOn: (wallet) => claimsOn(context, wallet),
  }),
  handler(questions.ChainActivity, async (asked) => ok(await readActivity(context, asked))),
  handler(questions.ChainItem, async (asked) => ok({ item: await readItem(context, asked) })),
]

/** Returns the claims on the holder of a wallet. An account that cannot be read may have one. */
async function claimsOn({ account, log }: Pick<Context, 'account' | 'log'>, wallet: Hex): Promise<string[]> {
  try {
    return claimsOf(await account(wallet))
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    log.warn({ err: error.shortMessage }, 'chain read failed')
    return ['the credit line cannot be read: try again later']
  }
}

async function unlessUnreadable<T>({ log }: Context, work: () => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    log.warn({ err: error.shortMessage }, 'chain read failed')
    return refuse('chain_unavailable')
  }
}

/**
 * Returns a function that starts a read and returns the last known balance: figures are due within 150 ms, which a
 * public endpoint alone may take.
 */
function openBalances({ reader }: Context['node']): (address: Hex) => bigint | null {
  const known = new Map<Hex, bigint>()
  const reading = new Set<Hex>()
  const read = async (address: Hex) => {
    reading.add(address)
    const balanceWei = await reader.getBalance({ address }).catch(() => undefined)
    if (balanceWei === undefined) known.delete(address)
    else known.set(address, balanceWei)
    reading.delete(address)
  }
  return (address) => {
    if (!reading.has(address)) void read(address)
    return known.get(address) ?? null
  }
}

export const statsOf = ({ database, node, settings }: Context) => {
  const balanceOf = openBalances(node)
  return async () => {
    const [open, oldest, watched, lag, dead, rows] = await Promise.all([
      database.read(countOpen),
      database.read(oldestOperations),
      database.read(countWatched),
      outboxLag(database, outbox),
      countDead(database, deadLetters),
      database.read(findLanes),
    ])
    const laneFigures = rows.map(({ address, nextNonce, fault }) => {
      const balanceWei = balanceOf(address)
      return {
        address,
        nextNonce,
        fault,
        balanceWei: balanceWei === null ? null : String(balanceWei),
      }
    })
    const oldestMs = agesOf(limitsOf(settings.oldestAlarmMs), oldest)
    const figures = { ...open, oldestMs, watched }
    return { operations: figures, outbox: lag, deadLetters: dead, lanes: laneFigures }
  }
}

/**
 * Reads the facts of a wallet and its recent takes. It reads again if a take was stored in the meantime; after the
 * third time that take is counted twice rather than not at all.
 */
async function factsAndTakes(context: Context, signed: GivenAuthorization) {
  const from = signed.from.toLowerCase() as Hex
  const takes = () => context.database.read((db) => recentTakes(db, from))
  let counted = await takes()
  for (let tries = 1; ; tries++) {
    const facts = await signerFacts(context, signed)
    const after = await takes()
    if (tries === 3 || after.every((nonce) => counted.includes(nonce))) return { facts, counted }
    counted = after
  }
}
