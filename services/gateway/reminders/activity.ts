import type { Database } from '#platform/db/open'
import { idFor } from '#shared/ids'
import { sentenceOf, type TextRef } from '#shared/language/catalogue'
import type { ActivityAnswer, ActivityEntry, ActivityRequest } from '#shared/messages/activity'
import type { AutoRepaySource } from '#shared/messages/credit'
import { type AutoRepayment, causeOf, findTries } from './auto-repay.store'

/** Automatic repayments as items of the activity. They belong to the gateway, which orders them. */
export type AutoRepayActivity = {
  readonly page: (asked: Asked) => Promise<ActivityAnswer>
  readonly item: (wallet: `0x${string}`, id: string) => Promise<ActivityEntry | null>
}
type Asked = Pick<ActivityRequest, 'limit' | 'before'> & { readonly wallet: `0x${string}` }

export function openAutoRepayActivity(database: Database): AutoRepayActivity {
  const itemsOf = async (wallet: `0x${string}`) => autoRepayItems(await database.read((db) => findTries(db, wallet)))
  return {
    page: async ({ wallet, limit, before }) => {
      const items = await itemsOf(wallet)
      const isAfter = (one: ActivityEntry) => !before || newestFirst(before, one) < 0
      return { items: items.filter(isAfter).slice(0, limit), inFlight: items.filter(({ inFlight }) => inFlight) }
    },
    item: async (wallet, id) => (await itemsOf(wallet)).find((one) => one.id === id) ?? null,
  }
}

type Place = Pick<ActivityEntry, 'createdAt' | 'id'>

/** Orders items, newest first. Timestamps are UTC with milliseconds, so text order is time order. */
export function newestFirst(left: Place, right: Place): number {
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? 1 : -1
  if (left.id === right.id) return 0
  return left.id < right.id ? 1 : -1
}

/**
 * Returns the items of tries in the order of their cycles, newest first. Tries that follow each other until one repays are
 * one item: a person sees one line for each repayment, which says how the last try ended, and not a line for each failure.
 * A try whose amount is not known has none: the statement has its repayment.
 */
export function autoRepayItems(tries: readonly AutoRepayment[]): ActivityEntry[] {
  const items: { first: AutoRepayment; last: AutoRepayment }[] = []
  for (const one of tries) {
    const open = items.at(-1)
    if (open && open.first.cycle === one.cycle && open.last.outcome !== 'repaid') open.last = one
    else items.push({ first: one, last: one })
  }
  return items.flatMap(({ first, last }) => itemOf(first, last) ?? []).sort(newestFirst)
}

function itemOf(first: AutoRepayment, last: AutoRepayment): ActivityEntry | undefined {
  const { outcome, reason, ausdMicro, source, txHash } = last
  if (ausdMicro === null || source === null) return undefined
  const status = outcome ?? 'repaying'
  return {
    // This is the id of the relayer's operation, so that operators find it by the number on a receipt.
    id: idFor('operation', `autorepay:${causeOf(first)}`),
    kind: 'autorepay',
    status,
    inFlight: status === 'repaying',
    ...(reason && { reason }),
    ...sentenceOf(textsOf({ ...last, ausdMicro, source })),
    nextAction: status === 'repaying' ? 'wait' : null,
    ausd: String(ausdMicro),
    source,
    ...(txHash && { txHash }),
    createdAt: first.orderedAt.toISOString(),
    updatedAt: (last.endedAt ?? last.orderedAt).toISOString(),
  }
}

type Known = AutoRepayment & { readonly ausdMicro: bigint; readonly source: AutoRepaySource }

function textsOf({ outcome, reason, source, ausdMicro }: Known): readonly TextRef[] {
  if (outcome === 'repaid') return [{ code: `autorepay.repaid.${source}`, ausd: String(ausdMicro) }]
  if (outcome === 'failed') return [{ code: `autorepay.reason.${reason ?? 'reverted'}` }, { code: 'autorepay.failed' }]
  return [{ code: `autorepay.${outcome ?? 'repaying'}` }]
}
