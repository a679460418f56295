import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import type { Address, Hex } from 'viem'
import { schemaReader } from '#platform/schema'

const AddressText = Type.Unsafe<Address>(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }))
const HexText = Type.Unsafe<Hex>(Type.String({ pattern: '^0x([0-9a-f]{2})*$' }))

/** Transaction that is signed and possibly sent. Its attempts differ only in fees, so at most one can be mined. */
const Pending = Type.Object({
  step: Type.String(),
  from: AddressText,
  nonce: Type.Integer({ minimum: 0 }),
  attempts: Type.Array(HexText, { minItems: 1 }),
})
export type Pending = Static<typeof Pending>

const AddressBook = Type.Object({
  chainId: Type.Integer(),
  genesisHash: HexText,
  deployBlock: Type.Optional(Type.Integer({ minimum: 0 })),
  ausd: Type.Optional(AddressText),
  creditLine: Type.Optional(AddressText),
  treasury: Type.Optional(AddressText),
  lanes: Type.Optional(Type.Array(AddressText)),
  pending: Type.Optional(Pending),
})
/** File of addresses. An address is added once it is final. */
export type AddressBook = Static<typeof AddressBook>

const readBook = schemaReader(AddressBook)

/** Reads the file. Throws if it is not ours, so that it is not overwritten. */
export function loadAddresses(path: string): AddressBook | null {
  let raw: string
  try {
    raw = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`cannot read the addresses file ${path}: ${(error as Error).message}`)
  }
  const read = readBook(parsed(raw))
  if ('value' in read) return read.value
  throw new Error(`${path} is not an addresses file (${read.fault}): move it away`)
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

export function saveAddresses(path: string, book: AddressBook): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.draft`
  const file = openSync(draft, 'w', 0o644)
  writeSync(file, `${JSON.stringify(book, null, 2)}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(draft, path)
}
