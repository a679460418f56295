import { Elysia } from 'elysia'
import { getAddress } from 'viem'
import { GetRecord } from '#shared/api/record'
import type { AnswerOf } from '#shared/api/route'
import type { Ask } from '#shared/bus/ask'
import { ChainAccount } from '#shared/messages/chain'
import { Address } from '#shared/messages/fields'
import { IndexerRecord } from '#shared/messages/indexer'
import { joined } from '#shared/reads/reads'
import type { Context } from '../context'
import { answerTagged, tagged } from '../http/etag'
import { badRequest, okOf } from '../http/failure'
import { exampleRecord, operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

/**
 * The history is worth waiting for while a reader works on it, or another one can be asked; while none
 * is there, the contract's own figures come without it.
 */
const indexerPatience = { deadlineMs: 1_200, quietMs: 80 }
/** So long whoever was answered may keep it. */
const maxAgeSeconds = 2

/** `GET /verify/:wallet`: the public credit record, without a name or a document. */
export const verifyRoute = ({ ask }: Context, access: Access) => {
  const read = async (wallet: string) => tagged(await recordOf(ask, wallet))
  const record = joined(read, (wallet) => wallet)
  return new Elysia().use(access).get(
    GetRecord.path,
    async ({ request, params, set }) => {
      const given = params.wallet
      if (!/^0x[0-9a-fA-F]{40}$/.test(given))
        throw badRequest('wallet must be an address: 0x and 40 hex digits')
      const found = await record(given.toLowerCase())
      set.headers['cache-control'] = `public, max-age=${maxAgeSeconds}`
      return answerTagged({ request, set }, found)
    },
    {
      limited: 'public',
      ...operation({
        summary: 'The public credit record of a wallet',
        description:
          'A wallet that was never seen has an empty record. `cycles` counts the closed ones, ' +
          'reversed ones included. `outcome` is null while a cycle is open, then `Qualified`, ' +
          '`Short` (too little debt for too short a time), `Late`, `Defaulted`, or `Reversed`: ' +
          'money that had counted in it was taken back, and what it had given to the score with ' +
          'it. Of a reversed cycle `totalRepaid` is what was left, and `scoreAfter` the score ' +
          'after that; the debt that comes back opens a new cycle, with the `openedAt` of the ' +
          'reversed one. `history` is null while the indexer is unavailable; times in it are unix ' +
          'seconds.',
        tag: 'record',
        parameters: [{ name: 'wallet', in: 'path', required: true, schema: Address }],
        ok: { description: 'The record.', schema: GetRecord.answer, example: exampleRecord },
        tagged: true,
        errors: [400, 429, 503],
      }),
    },
  )
}

async function recordOf(ask: Ask, wallet: string): Promise<AnswerOf<typeof GetRecord>> {
  const [answer, history] = await Promise.all([
    ask(ChainAccount, { wallet }),
    historyOf(ask, wallet),
  ])
  const { verified, score, ratioBps, cycles, defaulted } = okOf(answer)
  return {
    account: getAddress(wallet),
    verified,
    score,
    ratioBps,
    cycles,
    defaulted,
    history,
    indexer: history === null ? 'unavailable' : 'ok',
  }
}

/**
 * Null when the reader is down, slow or behind: an old history must not pass for the current one.
 */
async function historyOf(ask: Ask, wallet: string) {
  const answer = await ask(IndexerRecord, { wallet }, indexerPatience).catch(() => undefined)
  return answer && 'ok' in answer ? answer.ok.history : null
}
