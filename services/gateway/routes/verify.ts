import type { StaticDecode } from 'typebox'
import { getAddress } from 'viem'
import type { Ask } from '#platform/bus/ask'
import { DeadlinePassed, pause } from '#platform/deadline'
import { joinReads } from '#platform/reads'
import { GetRecord } from '#shared/api/record'
import type { RouteAnswer } from '#shared/api/route'
import { ChainAccount } from '#shared/messages/chain'
import { IndexerRecord } from '#shared/messages/indexer'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { answerTagged, tagged } from '../http/etag'
import { badRequest, okOf } from '../http/failure'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

/** Time to wait for a reader, up to 1.2 s; without any, the record has no history. */
const indexerPatience = { deadlineMs: 1_200, quietMs: 80 }
/**
 * Number of further readings, over about 1.5 s. The history is that of the finalized block, which follows the
 * newest one within two blocks.
 */
const readingsMore = 5
const readAgainMs = 300
const maxAgeSeconds = 2

export const verifyRoute = ({ ask }: Context, access: Access) => {
  const read = async (wallet: string) => tagged(await recordOf(ask, wallet))
  const record = joinReads(read, (wallet) => wallet)
  return serve(access, GetRecord, async ({ request, params, set }) => {
    const given = params.wallet
    if (!/^0x[0-9a-fA-F]{40}$/.test(given)) throw badRequest({ code: 'form.address', field: 'wallet' })
    const found = await record(given.toLowerCase())
    set.headers['cache-control'] = `public, max-age=${maxAgeSeconds}`
    return answerTagged({ request, set }, found)
  })
}

/** Reads a record. Without an agreeing history in time, it has only the figures. */
async function recordOf(ask: Ask, wallet: string): Promise<RouteAnswer<typeof GetRecord>> {
  const accounts: Account[] = []
  try {
    return await inTime(agreeingRecord(ask, wallet, accounts), 'the record')
  } catch (error) {
    const newest = accounts.at(-1)
    if (error instanceof DeadlinePassed && newest) return recordWith(wallet, newest, null)
    throw error
  }
}

/** Reads until account and history agree. Adds each account to `accounts`. */
async function agreeingRecord(ask: Ask, wallet: string, accounts: Account[]): Promise<RouteAnswer<typeof GetRecord>> {
  for (;;) {
    const [answer, history] = await Promise.all([ask(ChainAccount, { wallet }), historyOf(ask, wallet)])
    accounts.push(okOf(answer))
    const agreeing = history && accounts.findLast((account) => isSame(account, history))
    if (agreeing) return recordWith(wallet, agreeing, history)
    if (!history || accounts.length > readingsMore) return recordWith(wallet, accounts.at(-1)!, null)
    await pause(readAgainMs)
  }
}

type Account = StaticDecode<(typeof ChainAccount)['answer']>
type History = StaticDecode<(typeof IndexerRecord)['answer']>['history']

function recordWith(
  wallet: string,
  { verified, score, ratioBps, cycles, defaulted }: Account,
  found: History | null,
): RouteAnswer<typeof GetRecord> {
  return {
    account: getAddress(wallet),
    verified,
    score,
    ratioBps,
    cycles,
    defaulted,
    history: found,
    indexer: found === null ? 'unavailable' : 'ok',
  }
}

/** Returns true if the history ends where the contract is. A cycle is open while a debt is owed. */
function isSame(account: Account, history: History): boolean {
  const open = account.drawn !== '0' && !account.defaulted ? 1 : 0
  return (
    history.score === account.score &&
    history.cycleCount === account.cycles &&
    history.cyclesOpened === account.cycles + open &&
    history.defaulted === account.defaulted &&
    (history.verifiedAt !== null || !account.verified)
  )
}

/** Returns null if the reader is down, slow or behind, because an old history must not look current. */
async function historyOf(ask: Ask, wallet: string) {
  const answer = await ask(IndexerRecord, { wallet }, indexerPatience).catch(() => undefined)
  return answer && 'ok' in answer ? answer.ok.history : null
}
