import type { PrivateKeyAccount } from 'viem/accounts'
import type { Activity, Client, Language, Me } from '#shared/client/client'
import { timeText, zoneOf } from '#shared/language/time'
import { countries } from '#shared/money/countries'
import type { Currency } from '#shared/money/money'
import type { ClientConfig, WalletChain } from './chain'
import { millisecondsOf, moneyText } from './format'
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

/** Writes a time as the service's sentences do, in the zone of the user's country. */
export const time = ({ language, me }: ReferenceApp, at: string) =>
  timeText(millisecondsOf(at), language, { zone: zoneOf(me.user.country, language) })
