import type { Sql } from 'postgres'
import { type Hex, keccak256, stringToHex } from 'viem'
import { typedTransfer } from '#shared/chain/erc3009'
import { actors } from '#test/support/contracts'
import type { BooksFixture } from '../test-support'

export const insertPayment = (admin: Sql, id: string, change: { account?: 'ID' | 'MY' } = {}) => {
  const { account = 'ID' } = change
  const currency = account === 'ID' ? 'IDR' : 'MYR'
  return admin`
    insert into payments.payments ${admin({
      id,
      kind: 'topup',
      state: 'opening',
      wallet: actors.ana.address.toLowerCase(),
      pair: `USD/${currency}`,
      currency,
      rate_minor_per_usd: '1',
      fiat_minor: '1',
      ausd_micro: '1',
      quote_id: `quote ${id}`,
      request_fingerprint: 'x',
      account,
    })}`
}

export const insertCashout = (
  admin: Sql,
  id: string,
  { authorizer, nonce, micro = 5n }: { authorizer: string; nonce: string; micro?: bigint },
) =>
  admin`
    insert into payouts.payouts ${admin({
      id,
      wallet: authorizer.toLowerCase(),
      state: 'taking',
      rate_minor_per_usd: '1',
      ausd_micro: `${micro}`,
      fiat_minor: '1',
      quote_id: `quote ${id}`,
      request_fingerprint: 'x',
      authorizer: authorizer.toLowerCase(),
      authorization_nonce: nonce,
      channel_code: 'ID_BCA',
      bank_details: 'x',
      bank_details_key_id: 'x',
      authorization: admin.json({}),
    })}`

export const nonceOf = (word: string): Hex => keccak256(stringToHex(word))

export async function moveSigned(
  { chain, place }: BooksFixture,
  from: 'ana' | 'treasury',
  to: Hex,
  { micro, nonce }: { micro: bigint; nonce: Hex },
): Promise<void> {
  const { address } = actors[from]
  const domain = {
    name: 'Agora Dollar',
    version: '1',
    chainId: 10143,
    verifyingContract: place.ausd,
  }
  const terms = {
    from: address,
    to,
    value: `${micro}`,
    validAfter: '0',
    validBefore: '99999999999',
  }
  const signature = await actors[from].signTypedData(typedTransfer(domain, { ...terms, nonce }))
  const args = [address, to, micro, 0n, 99_999_999_999n, nonce, signature] as const
  await chain.send('budi', 'ausd', 'transferWithAuthorization', args as never)
}

export async function journalOf(admin: Sql, items?: readonly string[]) {
  const rows = await admin<
    {
      posting: string
      event: string
      item: string
      account: string
      amount: string
      reverses: string | null
    }[]
  >`select * from books.journal ${items ? admin`where item in ${admin([...items])}` : admin``}
    order by booked_at, posting, line`
  return [...Map.groupBy(rows, ({ posting }) => posting).values()].map((lines) => ({
    event: lines[0]!.event,
    item: lines[0]!.item,
    reverses: lines[0]!.reverses !== null,
    lines: Object.fromEntries(lines.map(({ account, amount }) => [account, BigInt(amount)])),
  }))
}
