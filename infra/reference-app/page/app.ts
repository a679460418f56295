import type { PrivateKeyAccount } from 'viem/accounts'
import { type Activity, type Client, type Language, type Me, serviceMs } from '#shared/client/client'
import { dayText, timeText, zoneOf } from '#shared/language/time'
import { countries } from '#shared/money/countries'
import type { Currency } from '#shared/money/money'
import { fiatOf } from '#shared/money/pair'
import type { ClientConfig, WalletChain } from './chain'
import { fiatFor, inCents, millisecondsOf, moneyText, type Priced } from './format'
import type { OpenOrders } from './orders'
import type { Texts } from './texts/english'

/** State of the page. `me` and `activity` are as they were last read. */
export type ReferenceApp = {
  readonly language: Language
  readonly t: Texts
  readonly account: PrivateKeyAccount
  readonly client: Client
  readonly config: ClientConfig
  readonly chain: WalletChain
  readonly orders: OpenOrders
  readonly me: Me
  readonly activity: Activity
  /** Latest rate of the user's currency, for amounts that are shown and not charged. Undefined while there is none. */
  readonly rate: Priced | undefined
  /** AUSD (10⁻⁶) of the wallet that the credit line may take, if a debt is repaid automatically from it. */
  readonly allowance: string | undefined
  /** Id of the payment from whose checkout the user has just returned. */
  readonly returnedFrom: string | null
  readonly refresh: () => void
}

export type PageSection = {
  readonly slug: keyof Texts['sections']
  readonly element: HTMLElement
  readonly update?: () => void
}

/** Returns the terms of the user's country, by default those of the first country. */
export const localOf = ({ me }: Pick<ReferenceApp, 'me'>) =>
  countries.find(({ country }) => country === me.user.country) ?? countries[0]

export const money = ({ language }: ReferenceApp, minor: string, currency: Currency = 'AUSD') =>
  moneyText(minor, currency, language)

/** Writes what AUSD (10⁻⁶) is worth in the user's currency. Undefined without a rate. */
export const localWorth = (app: ReferenceApp, micro: string, rounding: 'down' | 'up'): string | undefined =>
  app.rate && money(app, fiatFor(micro, app.rate, rounding), fiatOf(app.rate.pair))

/** Writes AUSD (10⁻⁶) in the user's currency first: `about Rp 164,130 (10.00 AUSD)`. Without a rate it writes the AUSD. */
export function worth(app: ReferenceApp, micro: string, rounding: 'down' | 'up' = 'down'): string {
  const [local, ausd] = [localWorth(app, micro, rounding), money(app, inCents(micro, rounding))]
  if (local === undefined) return money(app, micro)
  return micro === '0' ? `${local} (${ausd})` : app.t.about(local, ausd)
}

/** Writes AUSD (10⁻⁶) like `worth`, but with every decimal, for what the user agrees to. */
export function exactWorth(app: ReferenceApp, micro: string, rounding: 'down' | 'up' = 'down'): string {
  const [local, ausd] = [localWorth(app, micro, rounding), money(app, micro)]
  return local === undefined ? ausd : app.t.about(local, ausd)
}

/** Returns true if a debt was due and is not repaid. */
export const isOverdue = ({ cycle }: Pick<Me, 'cycle'>): boolean =>
  cycle !== null && millisecondsOf(cycle.dueAt) < serviceMs()

/** Writes a time as the service's sentences do, in the zone of the user's country. */
export const time = ({ language, me }: ReferenceApp, at: string) =>
  timeText(millisecondsOf(at), language, { zone: zoneOf(me.user.country, language) })

/** Writes the day of a time, in the zone of the user's country. */
export const day = ({ language, me }: ReferenceApp, at: string) =>
  dayText(millisecondsOf(at), language, zoneOf(me.user.country, language))
