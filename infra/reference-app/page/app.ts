import type { PrivateKeyAccount } from 'viem/accounts'
import { type Activity, type Client, type Language, type Me, serviceMs } from '#shared/client/client'
import { dayText, timeText, zoneOf } from '#shared/language/time'
import { countries } from '#shared/money/countries'
import type { Currency } from '#shared/money/money'
import { fiatOf } from '#shared/money/pair'
import type { ClientConfig, WalletChain } from './chain'
import { fiatFor, inCents, millisecondsOf, moneyText, type PayoutPrice, type Priced, parseAmount } from './format'
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
  /** Latest rate of cash-outs, for their amounts before there is a quote. Undefined while there is none. */
  readonly payout: PayoutPrice | undefined
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
  const local = localWorth(app, micro, rounding)
  return local === undefined ? money(app, micro) : about(app, local, micro, rounding)
}

/** Writes an amount in local money with the AUSD (10⁻⁶) that it is about. */
export function about(app: ReferenceApp, local: string, micro: string, rounding: 'down' | 'up'): string {
  return beside(app, local, micro, money(app, inCents(micro, rounding)))
}

/** Writes local money with its AUSD. Zero is exact at any rate. */
const beside = ({ t }: ReferenceApp, local: string, micro: string, ausd: string): string =>
  micro === '0' ? `${local} (${ausd})` : t.about(local, ausd)

/** Writes each amount of AUSD in a text of the service in the user's currency first. */
export const inLocalMoney = (app: ReferenceApp, text: string): string =>
  text.replace(/(\d[\d.,]*)\sAUSD/g, (amount, number: string) => {
    const micro = parseAmount(number, 'AUSD', app.language)
    return micro === undefined ? amount : worth(app, micro, 'up')
  })

/** Writes AUSD (10⁻⁶) like `worth`, but with every decimal, for what the user agrees to. */
export function exactWorth(app: ReferenceApp, micro: string, rounding: 'down' | 'up' = 'down'): string {
  const [local, ausd] = [localWorth(app, micro, rounding), money(app, micro)]
  return local === undefined ? ausd : beside(app, local, micro, ausd)
}

/** Returns true if a debt was due and is not repaid. */
export const isOverdue = ({ cycle }: Pick<Me, 'cycle'>): boolean =>
  cycle !== null && millisecondsOf(cycle.dueAt) < serviceMs()

/** Returns the zone of the user's country, in which every time is shown and every day begins. */
export const zoneOfUser = ({ language, me }: Pick<ReferenceApp, 'language' | 'me'>) => zoneOf(me.user.country, language)

/** Writes a time as the service's sentences do. */
export const time = (app: ReferenceApp, at: string) =>
  timeText(millisecondsOf(at), app.language, { zone: zoneOfUser(app) })

/** Writes the day of a time. */
export const day = (app: ReferenceApp, at: string) => dayText(millisecondsOf(at), app.language, zoneOfUser(app))
