import { beforeAll, describe, expect, test } from 'bun:test'
import { type TSchema, Type } from 'typebox'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { schemaReader } from '#platform/schema'
import { GetMe, PostCountry, PostVerification } from '#shared/api/account'
import { GetActivity, GetActivityItem } from '#shared/api/activity'
import { GetConfig } from '#shared/api/config'
import { PostCashout, PostSend, PostSettlement, PostTopup } from '#shared/api/money'
import { PostQuote } from '#shared/api/quotes'
import { GetRecord } from '#shared/api/record'
import type { Route } from '#shared/api/route'
import * as sources from '#shared/client/client'
import { ausdOf, creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { loadOnPhone } from '../support/phone'
import { bank } from '../support/requests'
import { sharedStack } from '../support/stack'

const routes: readonly Route[] = [
  GetConfig,
  PostQuote,
  GetMe,
  PostCountry,
  PostVerification,
  GetActivity,
  GetActivityItem,
  GetRecord,
  PostTopup,
  PostSettlement,
  PostCashout,
  PostSend,
]
const routeOf = (method: string, path: string) =>
  routes.find((route) => route.method === method && new RegExp(`^${route.path.replace(/:\w+/, '[^/]+')}$`).test(path))

/** Returns a schema that refuses additional fields. */
const closed = (schema: TSchema): TSchema => Type.Object(propertiesOf(schema), { additionalProperties: false })
const propertiesOf = (schema: TSchema) => (schema as unknown as { properties: Record<string, TSchema> }).properties

/** Opens a network that loses the first response to every new request. All others must fit their route's schema. */
function lossyNetwork() {
  const seen = new Set<string>()
  const misfits: string[] = []
  return {
    misfits,
    asked: seen,
    fetch: async (url: string, init: RequestInit) => {
      const answer = await fetch(url, init)
      const { pathname } = new URL(url)
      const name = `${init.method} ${pathname} ${init.body ?? ''}`
      const route = routeOf(init.method ?? 'GET', pathname)
      if (!route) misfits.push(`${name}: no route describes it`)
      else if (answer.ok) {
        const read = schemaReader(closed(route.answer))(await answer.clone().json())
        if ('fault' in read) misfits.push(`${name}: ${read.fault}`)
      }
      if (seen.has(name)) return answer
      seen.add(name)
      throw new Error('the connection was lost')
    },
  }
}

let stack: RunningStack
beforeAll(async () => {
  stack = await sharedStack()
})

const quick = { everyMs: 100 }

type Network = ReturnType<typeof lossyNetwork>['fetch']

/** Where the client runs, over a network if one is given. */
const places = [
  {
    place: 'in Bun',
    load: (network?: Network) => ({ client: sources, AbortController, own: network && { fetch: network } }),
  },
  {
    place: 'as installed, with the globals of React Native',
    load: (network?: Network) => ({ ...loadOnPhone(network && { fetch: network }), own: undefined }),
  },
]

describe.each(places)('the client $place', ({ load }) => {
  const { client, AbortController } = load()
  const { okOf, openClient, signTransfer } = client
  let person: Person
  const network = lossyNetwork()
  let api: sources.Client

  beforeAll(async () => {
    person = await verifiedUser(stack, { ausdMicro: 20_000_000n, wei: 10n ** 18n })
    const { client, own } = load(network.fetch)
    api = client.openClient({ baseUrl: stack.info.gateway, account: person.account, ...own })
  })

  describe('over a network that loses the first response to every request', () => {
    test('one top-up is opened, paid and credited', async () => {
      const quote = okOf(await api.quote('USD/IDR'))
      const asked = { amount: '500000', method: 'qr', quoteId: quote.id } as const
      const checkout = okOf(await api.topUp(asked))
      await outsideOf(stack.info).pay(checkout.paymentId, 'QRIS')
      const item = await api.waitFor(checkout.paymentId, quick)
      expect(item).toMatchObject({ kind: 'topup', status: 'credited' })
      expect(await creditsOf(stack, checkout.paymentId)).toHaveLength(1)
      expect(okOf(await api.activity()).items).toHaveLength(1)
    })

    test('one settlement repays the debt', async () => {
      await person.draw(10_000_000n)
      const quote = okOf(await api.quote('USD/IDR'))
      const checkout = okOf(await api.settle({ quoteId: quote.id }))
      await outsideOf(stack.info).pay(checkout.paymentId, 'QRIS')
      expect(await api.waitFor(checkout.paymentId, quick)).toMatchObject({ status: 'repaid' })
      expect(okOf(await api.me()).drawn).toBe('0')
    })

    test('one cash-out and one send leave the wallet, each once', async () => {
      const before = await ausdOf(stack, person.account.address)
      const { treasury, ausd } = okOf(await api.config()).chain
      const sign = (terms: sources.TransferTerms) => signTransfer(person.account, ausd.domain, terms)
      const quote = okOf(await api.quote('USD/IDR'))
      const authorization = await sign({ to: treasury, valueMicro: 5_000_000n })
      const order = okOf(await api.cashOut({ quoteId: quote.id, authorization, bank }))
      expect(await api.waitFor(order.payoutId, quick)).toMatchObject({ status: 'paid' })
      const to = privateKeyToAddress(generatePrivateKey())
      const signed = await sign({ to, valueMicro: 1_000_000n })
      const send = okOf(await api.send({ authorization: signed }))
      expect(await api.waitFor(send.sendId, quick)).toMatchObject({ status: 'sent' })
      expect(before - (await ausdOf(stack, person.account.address))).toBe(6_000_000n)
    })

    test('country, verification, the history and the record are returned', async () => {
      expect(okOf(await api.setCountry('MY'))).toEqual({ country: 'MY' })
      expect(okOf(await api.me()).user.country).toBe('MY')
      expect(okOf(await api.verification())).toEqual({ verified: true, url: null })
      const kinds = okOf(await api.activity()).items.map(({ kind }) => kind)
      expect(kinds.toSorted()).toEqual(['cashout', 'send', 'settlement', 'topup'])
      expect(okOf(await api.record(person.wallet))).toMatchObject({ verified: true, cycles: 1 })
    })

    test('every response matched the schema of its route, and every route was called', () => {
      expect(network.misfits).toEqual([])
      const asked = new Set(
        [...network.asked].map((name) => {
          const [method, path] = name.split(' ') as [string, string]
          return routeOf(method, path)
        }),
      )
      expect(asked.size).toBe(routes.length)
    })
  })

  test('an app that reads only when it is told of a change sees its top-up credited', async () => {
    const app = openClient({ baseUrl: stack.info.gateway, account: person.account })
    const quote = okOf(await app.quote('USD/IDR'))
    const { paymentId } = okOf(await app.topUp({ amount: '500000', method: 'qr', quoteId: quote.id }))
    const seen: string[] = []
    const shown = Promise.withResolvers<void>()
    const credited = Promise.withResolvers<void>()
    const left = new AbortController()
    const read = async () => {
      const { status } = okOf(await app.item(paymentId))
      if (seen.at(-1) !== status) seen.push(status)
      shown.resolve()
      if (status === 'credited') credited.resolve()
    }
    const watching = app.watch(() => void read().catch(credited.reject), { signal: left.signal })
    await shown.promise
    await outsideOf(stack.info).pay(paymentId, 'QRIS')
    await credited.promise
    left.abort()
    await watching
    expect([seen[0], seen.at(-1)]).toEqual(['awaiting_payment', 'credited'])
  })

  describe('a refusal', () => {
    test('has a code of the closed list, the sentence and the id of its request', async () => {
      const quoteId = crypto.randomUUID()
      const refusedBy = openClient({ baseUrl: stack.info.gateway, account: person.account })
      const answer = await refusedBy.topUp({ amount: '50000', method: 'qr', quoteId })
      expect(answer).toEqual({
        refused: {
          code: 'quote_unknown',
          status: 400,
          message: 'This quote is not valid. Request a new one.',
          requestId: expect.stringMatching(/./),
          serverMs: expect.any(Number),
        },
      })
    })

    test('security: a session of another wallet is refused after one more signature', async () => {
      let signed = 0
      const stranger = privateKeyToAccount(generatePrivateKey())
      const account = {
        ...person.account,
        signMessage: (given: { message: string }) => {
          signed++
          return stranger.signMessage(given)
        },
      }
      const impostor = openClient({ baseUrl: stack.info.gateway, account })
      expect(await impostor.me()).toMatchObject({ refused: { code: 'sign_in_again', status: 401 } })
      expect(signed).toBe(2)
    })
  })
})
