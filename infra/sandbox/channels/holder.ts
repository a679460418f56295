import type { Context } from '../context'
import { type Control, optionalText, Refusal } from '../controls/control'
import type { JsonObject } from '../json'
import type { ProviderEndpoint } from '../provider/endpoint'
import type { AccountHolder } from '../records'

/** Holder's name by the last digit of the account number. */
const names: readonly (string | null)[] = [
  'SARI DEWI',
  'BUDI SANTOSO',
  'SITI NURHALIZA',
  'AGUS WIJAYA',
  'DEWI LESTARI',
  'AHMAD FAUZI',
  'RINA MARLINA',
  'I MADE SUKARTA',
  'TAN MEI LING',
  null,
]
/** Account that the bank does not know, as for payouts. */
const unknownAccount = '121212'

const idOf = (bank: string, number: string) => `${bank}:${number}`

function holderOf({ book }: Context, bank: string, number: string): AccountHolder {
  const id = idOf(bank, number)
  const byNumber = {
    id,
    found: number !== unknownAccount,
    name: names[Number(number.at(-1))] ?? null,
  }
  return book.get('holders', id) ?? byNumber
}

/** Returns the probability of refusing a payout to the account. */
export const refusalOf = ({ book }: Context, bank: string, number: string): number =>
  book.get('holders', idOf(bank, number))?.refuses ?? 0

const holderBody = ({ found, name }: AccountHolder) => ({ found, account_holder_name: name })

/** Endpoint of the sandbox alone: the real provider has no proven endpoint for this. */
export const holderEndpoints: readonly ProviderEndpoint[] = [
  {
    method: 'POST',
    path: '/sandbox/account_holders',
    run: (context, { body }) => ({
      body: holderBody(holderOf(context, String(body.channel_code), String(body.account_number))),
    }),
  },
]

export const holderControls = ({ book }: Context): Control[] => [
  {
    method: 'POST',
    path: '/control/accounts',
    run(_id, body) {
      const id = idOf(required(body, 'channel_code'), required(body, 'account_number'))
      const name = optionalText(body, 'holder_name')
      const refuses = body.refuses ?? 0
      if (typeof refuses !== 'number' || !(refuses >= 0 && refuses <= 1))
        throw new Refusal(400, 'refuses must be a probability from 0 to 1')
      return holderBody(book.save('holders', { id, found: body.found !== false, name, refuses }))
    },
  },
]

function required(body: JsonObject, name: string): string {
  const text = optionalText(body, name)
  if (text) return text
  throw new Refusal(400, `${name} is required`)
}
