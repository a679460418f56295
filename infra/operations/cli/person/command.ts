import { holds, personalData } from '#infra/documents/personal-data'
import { among, type CommandResult, reading } from '#infra/operations/cli/command'
import { allow, link, list, order, restore, withdraw } from '#infra/operations/cli/person/decide'
import { erase, erased } from '#infra/operations/cli/person/erase'
import { exchanges } from '#infra/operations/cli/person/exchanges'
import { readPerson, type Stored } from '#infra/operations/cli/person/read'
import { walletFault } from '#infra/operations/cli/person/wallet'

const form = (name: string) => ({
  usage: `persons ${name} <wallet> [--json]`,
  takes: 1,
  faultIn: walletFault,
})

const exported = reading({
  does: 'everything stored about a wallet, as JSON',
  ...form('export'),
  read: async ({ words: [wallet = ''] }, { sql }): Promise<CommandResult> => {
    const stored = await readPerson(sql, wallet.toLowerCase())
    const tables = Object.fromEntries(stored.map(({ table, rows }) => [table, rows]))
    return { text: JSON.stringify(tables, null, 2), data: { wallet, tables }, ok: true }
  },
})

export const exposureOf = ({ table, rows }: Stored) => {
  const times = rows.flatMap(({ created_at: at }) => (typeof at === 'string' ? at : [])).sort()
  const columns = Object.keys(rows[0] ?? {}).map((column) => `${table}.${column}`)
  const kinds = personalData.filter((entry) => columns.some((column) => holds(entry, column)))
  return {
    table,
    rows: rows.length,
    first: times[0] ?? null,
    last: times.at(-1) ?? null,
    kinds: kinds.map(({ what }) => what),
  }
}

const exposure = reading({
  does: 'which personal data of a wallet is stored where, for a breach notice',
  ...form('exposure'),
  read: async ({ words: [wallet = ''] }, { sql }): Promise<CommandResult> => {
    const exposed = (await readPerson(sql, wallet.toLowerCase())).map(exposureOf)
    const lines = exposed.map(({ table, rows, first, last, kinds }) =>
      [`${table}: ${rows}`, first && `${first} to ${last}`, kinds.join('; ')].filter(Boolean).join('  '),
    )
    return { text: lines.join('\n') || 'nothing is stored', data: { wallet, exposed }, ok: true }
  },
})

export const persons = among(
  'second wallets of a person: list, link, allow; verification by hand: withdraw, restore; flags given up: list, order; for the tax office: exchanges; what is stored: export, exposure, erase, erased',
  { list, link, allow, withdraw, restore, order, exchanges, export: exported, exposure, erase, erased },
)
