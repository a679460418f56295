import { and, eq, sql } from 'drizzle-orm'
import { encodeFunctionData, type Hex, parseEventLogs } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { actorKeys } from '#test/support/contracts'
import { nameOf, type TransferName } from '../chain/authorization'
import type { Context } from '../context'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { journal } from '../schema.store'
import { newNonce, newWallet, type openFixture, transferData, until } from '../test-support'
import { takeUpRequests } from './giveback'
import { requests } from './request.store'

export function givebacksOf(fixture: Awaited<ReturnType<typeof openFixture>>) {
  const { chain, contracts, database } = fixture
  const treasury = fixture.treasury.address

  async function arrivalsIn(txHash: Hex): Promise<TransferName[]> {
    const { logs } = await chain.getTransactionReceipt({ hash: txHash })
    const transfers = parseEventLogs({ abi: ausdAbi, eventName: 'Transfer', logs })
    return transfers
      .filter(({ args }) => args.to === treasury)
      .map(({ logIndex }) => ({ txHash, logIndex: Number(logIndex) }))
  }

  /** Returns a transfer to the treasury that a third party submitted. */
  async function sentBySomebody(micro = 4_000_000n) {
    const { key, address } = await newWallet(fixture)
    const signed = await fixture.sign(key, { to: treasury, value: micro, nonce: newNonce() })
    const txHash = await fixture.submit(actorKeys.budi, contracts.ausd, transferData(signed))
    const [name] = await arrivalsIn(txHash)
    return { key, address, signed, name: name! }
  }

  async function sentByItself(micro = 4_000_000n) {
    const { key, address } = await newWallet(fixture)
    const args = [treasury, micro] as const
    const data = encodeFunctionData({ abi: ausdAbi, functionName: 'transfer', args })
    const [name] = await arrivalsIn(await fixture.submit(key, contracts.ausd, data))
    return { key, address, name: name! }
  }

  const ask = ({ txHash, logIndex }: TransferName) =>
    database.run((db) =>
      db.insert(requests).values({ txHash, logIndex, askedBy: 'budi', reason: 'ticket 12' }).returning(),
    )
  const requestOf = async ({ txHash, logIndex }: TransferName) => {
    const rows = await database.read((db) =>
      db
        .select()
        .from(requests)
        .where(and(eq(requests.txHash, txHash), eq(requests.logIndex, logIndex)))
        .orderBy(sql`id desc`),
    )
    return rows[0]!
  }
  const decided = (context: Context, name: TransferName) =>
    until(async () => {
      await takeUpRequests(context)
      return (await requestOf(name)).state !== 'asked'
    }, 'a decision').then(() => requestOf(name))
  const operationFor = async (name: TransferName) => {
    const rows = await database.read((db) =>
      db
        .select()
        .from(operations)
        .where(and(eq(operations.kind, 'giveback'), eq(operations.cause, nameOf(name)))),
    )
    return rows[0]
  }
  const finished = (context: Context, name: TransferName) =>
    until(async () => {
      await relayOnce(context)
      return (await operationFor(name))?.state === 'settled'
    }, 'the giveback').then(() => operationFor(name))
  const linesOf = async (name: TransferName) => {
    const rows = await database.read((db) =>
      db
        .select()
        .from(journal)
        .where(eq(journal.item, nameOf(name))),
    )
    return rows.map(({ account, asset, amount }) => [account, asset, amount])
  }

  return {
    treasury,
    arrivalsIn,
    sentBySomebody,
    sentByItself,
    ask,
    requestOf,
    decided,
    operationFor,
    finished,
    linesOf,
  }
}
