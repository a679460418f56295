import { type Static, Type } from 'typebox'
import { Address, Amount, Uuid } from '#shared/messages/fields'
import { CommandOutcome, operatorCommandFields } from '#shared/messages/operator-commands'
import { question, type ServiceName } from '#shared/messages/topic'

const Row = Type.Object({
  table: Type.String(),
  values: Type.Record(Type.String(), Type.Unknown()),
})
const Place = Type.Object({ table: Type.String(), key: Type.Array(Type.String()) })
const Page = Type.Object({ rows: Type.Array(Row), next: Type.Union([Place, Type.Null()]) })

export type PersonRow = Static<typeof Row>
/** Place of a row, whose `key` is the row's key as text. */
export type PersonPlace = Static<typeof Place>
/** A page of rows. `next` is the place to continue after, or null if there are no more rows. */
export type PersonPage = Static<typeof Page>

/**
 * Records an operator's decision about a person. `linkedTo`: the wallet with this person's record, so that this one is
 * not verified. `replaced`: the command of the decision that the operator saw; refused if there is another one.
 */
export const PersonRule = question('gateway.person.rule', 'gateway', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    wallet: Address,
    linkedTo: Type.Union([Address, Type.Null()]),
    replaced: Type.Union([Uuid, Type.Null()]),
  }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/**
 * Withdraws the verification of a wallet for an operator whatever the provider says (`withdrawn`), or takes the latest decision
 * about it back, so that the provider's answer decides (`restored`). `replaced` is as for `PersonRule`.
 */
export const PersonWithdraw = question('gateway.person.withdraw', 'gateway', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    wallet: Address,
    to: Type.Enum(['withdrawn', 'restored']),
    replaced: Type.Union([Uuid, Type.Null()]),
  }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/** Orders a flag again that the relayer failed to set. Refused if `revision` is no longer that of the failed order. */
export const FlagOrder = question('gateway.person.flag', 'gateway', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Address, revision: Amount }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

const reading = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['gateway'], {
    request: Type.Object({ wallet: Address, after: Type.Optional(Place) }),
    answer: Page,
    repeat: 'changes nothing',
  })

/**
 * Reads of personal data per service. The gateway reads its own tables itself, and pricing stores nothing about
 * wallets.
 */
export const personReads = {
  payments: reading('payments.person.read', 'payments'),
  payouts: reading('payouts.person.read', 'payouts'),
  'chain-relayer': reading('chain.person.read', 'chain-relayer'),
  'indexer-reader': reading('indexer.person.read', 'indexer-reader'),
} as const

/**
 * Returns the command to erase a wallet's data. Refused while money or an order of the wallet is in progress, and while it owes
 * or has defaulted. `check`: only report whether it would be refused.
 */
const erasing = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['ops'], {
    request: Type.Object({ ...operatorCommandFields, wallet: Address, check: Type.Boolean() }),
    answer: CommandOutcome,
    gives: 'nothing',
    repeat: 'once by its key',
  })
export type PersonErasure = ReturnType<typeof erasing>

/** Erasures in the order of the requests; the gateway announces the erasure last. */
export const personErasures = {
  'chain-relayer': erasing('chain.person.erase', 'chain-relayer'),
  payouts: erasing('payouts.person.erase', 'payouts'),
  payments: erasing('payments.person.erase', 'payments'),
  gateway: erasing('gateway.person.erase', 'gateway'),
} as const
