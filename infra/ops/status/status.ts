import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { readStackFile } from '#infra/local/stack-file'
import { auditorDatabaseUrl, operatorPlace, type Place } from '#infra/ops/place'
import { withDatabase } from '#infra/ops/stack'
import type { Verb } from '#infra/ops/verb'
import { fields as relayer } from '../../../services/chain-relayer/config'
import { fields as payments } from '../../../services/payments/config'
import { fields as payouts } from '../../../services/payouts/config'
import { readRows } from './facts'
import { ausdOf, type Facts, type Floors, freeMicroOf, freeMinorOf, inWords, needs } from './judge'
import { type Asked, type ProviderAccess, readCoin, readRupiah, readTreasury } from './outside'

/** Where and as whom everything is asked. */
export type Access = {
  place: Place
  databaseUrl: string
  provider: ProviderAccess | undefined
  floors: Floors
}

/** The running local stack; or, with RPC_URL set, what the environment names. */
export function accessOf(env: NodeJS.ProcessEnv = process.env): Access {
  const set = (name: string, { fallback = '0' }: { fallback?: string }) =>
    BigInt(env[name] || fallback)
  const laneWei =
    set('LANE_FLOOR_WEI', relayer.LANE_FLOOR_WEI) + set('LANE_REFILL_WEI', relayer.LANE_REFILL_WEI)
  return {
    place: operatorPlace(env),
    databaseUrl: auditorDatabaseUrl(env),
    provider: providerOf(env),
    floors: {
      lowMicro: set('TREASURY_LOW_AUSD', payments.TREASURY_LOW_AUSD) * 1_000_000n,
      lowMinor: set('BALANCE_LOW_IDR', payouts.BALANCE_LOW_IDR),
      laneWei,
    },
  }
}

function providerOf(env: NodeJS.ProcessEnv): ProviderAccess | undefined {
  const { PROVIDER_ID_SECRET_KEY: secretKey, PROVIDER_URL: url } = env
  if (secretKey && url) return { url, secretKey }
  if (env.RPC_URL) return undefined
  const { sandbox, provider } = readStackFile(env.LOCAL_DIR ?? join(repositoryDir, '.local'))
  return { url: sandbox, secretKey: provider.ID.secretKey }
}

/** Reads rows, chain and provider; changes nothing. */
export async function readFacts({ place, databaseUrl, provider }: Access): Promise<Facts> {
  const rows = await withDatabase(databaseUrl, readRows)
  const [treasury, rupiah, ...coins] = await Promise.all([
    readTreasury(place),
    readRupiah(provider),
    ...rows.lanes.map(({ address }) => readCoin(place, address)),
  ])
  const coin = new Map(rows.lanes.map(({ address }, at) => [address as string, coins[at]!]))
  return { ...rows, treasury, rupiah, coin }
}

/** Says whether money is moving: 0 only when nothing needs a person. */
export const status: Verb = {
  does: 'is money moving: what is under way, what is free to promise, what needs a person (--json)',
  run: async (words, say) => {
    const access = accessOf()
    const facts = await readFacts(access)
    const lines = needs(facts, access.floors)
    say(words.includes('--json') ? asJson(facts, lines) : asText(facts, lines))
    return lines.length === 0 ? 0 : 1
  },
}

const asJson = (facts: Facts, lines: readonly string[]): string =>
  JSON.stringify(
    {
      ok: lines.length === 0,
      needs: lines,
      ...facts,
      coin: Object.fromEntries(facts.coin),
      freeMicro: freeMicroOf(facts) ?? null,
      freeMinor: freeMinorOf(facts) ?? null,
    },
    (_, value) => (typeof value === 'bigint' ? value.toString() : value),
    2,
  )

const orUnknown = <T>(asked: Asked<T>, write: (known: T) => string): string =>
  'known' in asked ? write(asked.known) : 'unknown'

function asText(facts: Facts, lines: readonly string[]): string {
  const { treasury, rupiah, owedMicro, promisedMicro, unpaidMinor, coin, books } = facts
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  const row = (name: string, ...cells: string[]) => `${name.padEnd(26)} ${cells.join('  ')}`
  return [
    ...facts.states.map(({ what, state, count, oldestMs, sums }) =>
      row(`${what} ${state}`, String(count), inWords(oldestMs), sumsInWords(sums)),
    ),
    ...(facts.states.length === 0 ? ['nothing is under way'] : []),
    row(
      'treasury',
      orUnknown(treasury, (known) => `${ausdOf(known.balanceMicro)} AUSD`),
    ),
    row('  owed to cash-outs', `${ausdOf(owedMicro)} AUSD`),
    row('  promised', `${ausdOf(promisedMicro)} AUSD`),
    row('  free', micro === undefined ? 'unknown' : `${ausdOf(micro)} AUSD`),
    row(
      "provider's balance",
      orUnknown(rupiah, (known) => `Rp ${known}`),
    ),
    row('  not paid yet', `Rp ${unpaidMinor}`),
    row('  free', minor === undefined ? 'unknown' : `Rp ${minor}`),
    ...[...coin].map(([lane, has]) =>
      row(
        `lane ${lane.slice(0, 10)}…`,
        orUnknown(has, (wei) => `${wei} wei`),
      ),
    ),
    ...facts.outboxes.map(({ service, waiting, oldestMs }) =>
      row(`outbox of ${service}`, String(waiting), inWords(oldestMs)),
    ),
    row(
      'books',
      books ? `checked ${inWords(Date.now() - books.endedAt.getTime())} ago` : 'never checked',
      `${facts.breaks.count} open`,
    ),
    '',
    ...(lines.length === 0
      ? ['money is moving: nothing needs a person']
      : ['needs a person:', ...lines.map((line) => `  ${line}`)]),
  ].join('\n')
}

const sumsInWords = (sums: Record<string, string>): string =>
  Object.entries(sums)
    .map(([asset, amount]) =>
      asset === 'AUSD' ? `${ausdOf(BigInt(amount))} AUSD` : `${amount} ${asset}`,
    )
    .join(' ')
