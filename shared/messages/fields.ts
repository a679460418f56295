import { Type } from 'typebox'
import type { Form } from '#shared/messages/form'
import { amountDigitsMax } from '#shared/money/money'

const digits = {
  pattern: `^[0-9]{1,${amountDigitsMax}}$`,
  says: 'amount' satisfies Form,
}
// `says` is the code of the validation message for users. A `title` makes a named component of the OpenAPI document.

const amount = {
  ...digits,
  title: 'Amount',
  description: 'A whole number as a string of digits, never a float.',
  examples: ['1000000'],
}
/** An integer that is no money: a score, a ratio, a block. */
export const Amount = Type.String(amount)
export const amountOf = (about: string) => Type.String({ ...amount, about })
export const AusdAmount = Type.String({
  ...digits,
  title: 'AusdAmount',
  description: 'AUSD in its smallest unit, 10⁻⁶: one AUSD is "1000000".',
  examples: ['1000000'],
})
export const FiatAmount = Type.String({
  ...digits,
  title: 'FiatAmount',
  description:
    'Local currency in its smallest unit: whole rupiah for IDR ("50000" is Rp 50,000), sen for MYR ' +
    '("500" is RM 5.00).',
  examples: ['50000'],
})
/** Our fee of an item. */
export const Fee = Type.String({
  ...digits,
  title: 'Fee',
  description:
    'Fee in local currency. `fiat` of a cash-out no longer contains it; `fiat` of a top-up does, and `ausd` is for the rest. ' +
    'Omitted if none is charged, as for money that goes back.',
  examples: ['5550'],
})
export const ShareAmount = Type.String({
  ...digits,
  title: 'ShareAmount',
  description: 'Shares of the collateral pool; their price in AUSD never falls.',
  examples: ['1000000000000'],
})
export const WeiAmount = Type.String({
  ...digits,
  title: 'WeiAmount',
  description: "The chain's native coin in wei, 10⁻¹⁸.",
  examples: ['500000000000000000'],
})
/** An address, which is read in lower case. */
export const Address = Type.Decode(
  Type.String({
    title: 'Address',
    description: 'A wallet or contract: 0x and 40 hex digits, in any case.',
    pattern: '^0x[0-9a-fA-F]{40}$',
    says: 'address' satisfies Form,
    examples: ['0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'],
  }),
  (written) => written.toLowerCase() as `0x${string}`,
)
/**
 * Set if the wallet of an order has not accepted the current terms. A repeat of a stored order gets its response all the same; another
 * order is refused: terms_not_accepted.
 */
export const TermsMissing = Type.Optional(Type.Literal(true))
/** A hash, which is read in lower case. */
export const Hash = Type.Decode(
  Type.String({
    title: 'Hash',
    description: '32 bytes: 0x and 64 hex digits.',
    pattern: '^0x[0-9a-fA-F]{64}$',
    says: 'hash' satisfies Form,
  }),
  (written) => written.toLowerCase() as `0x${string}`,
)
/** A UUID, which is read in lower case. */
export const Uuid = Type.Decode(
  Type.String({
    title: 'Uuid',
    description: 'A UUID.',
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    says: 'uuid' satisfies Form,
    examples: ['7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'],
  }),
  (written) => written.toLowerCase(),
)
/** A time in Unix seconds; its 20 digits hold every uint64. */
export const UnixSeconds = Type.String({
  title: 'UnixSeconds',
  description: 'Unix time in seconds, as a string of digits.',
  pattern: '^[0-9]{1,20}$',
  says: 'unix_seconds' satisfies Form,
  examples: ['1790000000'],
})
/**
 * A time of an authorization: a uint256 of up to 77 digits, or the largest one, which wallets use for "never expires".
 */
export const AuthorizationTime = Type.String({
  title: 'AuthorizationTime',
  description: 'Unix time in seconds, as a string of digits; the largest uint256 never comes.',
  pattern: `^(?:[0-9]{1,77}|${2n ** 256n - 1n})$`,
  says: 'unix_seconds' satisfies Form,
  examples: ['1790000000'],
})
export const Timestamp = Type.String({
  title: 'Timestamp',
  description: 'ISO 8601 in UTC, with milliseconds.',
  examples: ['2026-11-21T07:00:00.000Z'],
})
/** Omitted without a pilot. */
export const InvitedOnly = Type.Optional(
  Type.Literal(true, { description: 'Only invited wallets may; others get the refusal `not_in_pilot`.' }),
)

export const DayLimit = Type.Object(
  {
    day: AusdAmount,
    left: AusdAmount,
    resetsAt: Timestamp,
  },
  {
    title: 'DayLimit',
    description: 'A limit per day in the country of the money, what is left of it, and when it is whole again.',
  },
)
export const Pair = Type.Enum(['USD/IDR', 'USD/MYR'], {
  title: 'Pair',
  description: 'Currency pair of a quote; determines the currency that is charged or paid out.',
  says: 'pair' satisfies Form,
  examples: ['USD/IDR'],
})

/** An ERC-3009 `TransferWithAuthorization`. A key signs 64 (EIP-2098) or 65 bytes; an ERC-1271 signature may be longer. */
export const Authorization = Type.Object(
  {
    from: Address,
    to: Address,
    value: AusdAmount,
    validAfter: AuthorizationTime,
    validBefore: AuthorizationTime,
    nonce: Hash,
    signature: Type.Decode(
      Type.String({
        pattern: '^0x([0-9a-fA-F]{2}){64,4096}$',
        description:
          'The EIP-712 signature by `from`: 0x and 65 bytes of hex, 64 in the compact form of EIP-2098, or more from a contract wallet.',
        says: 'signature' satisfies Form,
      }),
      (written) => written.toLowerCase() as `0x${string}`,
    ),
  },
  {
    additionalProperties: false,
    title: 'Authorization',
    description: 'A signed ERC-3009 TransferWithAuthorization of AUSD; `GET /config` returns its EIP-712 domain.',
    says: 'object' satisfies Form,
  },
)

/** Latin letters, with the apostrophes that transliterate hamza and ayn, and the marks that combine with them. */
const latin = '\\p{Script=Latin}\u02bb-\u02bf'
const inName = `${latin}\u0300-\u036f0-9.,'\u2018\u2019/&@()\\-`
/**
 * Holder name as banks in Indonesia accept it, in Latin letters. It has no control, invisible or direction character, and
 * none outside the Basic Multilingual Plane, which the provider counts as two. It has at least one letter, none of full
 * width, and no more marks on a letter than any spelling needs. After `\s*` the lookaheads would run for each blank:
 * 60,000 blanks would take a minute.
 */
const holderName = [
  '^(?![^]*[\\u{10000}-\\u{10FFFF}\\uFF00-\\uFFEF\\p{DI}])(?![^]*\\p{M}{5})(?=[^]*\\p{L})',
  `\\s*[${latin}0-9'\u2018\u2019(](?:[${inName} ]{0,98}[${inName}])?\\s*$`,
].join('')

export const Bank = Type.Object(
  {
    channelCode: Type.String({
      pattern: '^ID_[A-Z0-9_]{2,40}$',
      description: 'The `code` of a bank in `cashouts.banks` of `GET /config`.',
      says: 'bank_code' satisfies Form,
      examples: ['ID_BCA'],
    }),
    accountNumber: Type.String({
      pattern: '^[0-9]{6,20}$',
      description: 'Digits only: 6 to 20, within the range of the bank in `GET /config`.',
      says: 'account_number' satisfies Form,
      examples: ['1234567890'],
    }),
    accountHolderName: Type.String({
      pattern: holderName,
      description:
        'Account holder name as registered with the bank: 1 to 100 Latin letters, digits, spaces and ' +
        "`. , ' - / & @ ( )`, at least one of them a letter.",
      says: 'holder_name' satisfies Form,
      examples: ['Sari Dewi'],
    }),
  },
  {
    additionalProperties: false,
    title: 'Bank',
    description: 'A bank account in Indonesia; `GET /config` lists the banks.',
    says: 'object' satisfies Form,
  },
)
