import { isIP } from 'node:net'
import type { Field, Range } from '#platform/config'

type FieldText = { about: string; fallback?: string; secret?: boolean }

const field = <T>(type: string, words: FieldText, parse: Field<T>['parse']): Field<T> => ({
  type,
  about: words.about,
  secret: words.secret ?? false,
  ...(words.fallback === undefined ? {} : { fallback: words.fallback }),
  parse,
})

const mustMatch = (pattern: RegExp, form: string) => (raw: string) => {
  if (!pattern.test(raw)) throw new Error(`must be ${form}`)
  return raw
}

export const text = (words: FieldText) => field('text', words, (raw) => raw)

export const url = (words: FieldText) =>
  field('URL', words, (raw) => {
    if (!URL.canParse(raw)) throw new Error('must be a URL')
    return raw.replace(/\/+$/, '')
  })

/** Fields for `natsServers` and `databaseUrl`. Bun itself reads NODE_EXTRA_CA_CERTS when it starts. */
export const encryptionFields = {
  UNENCRYPTED_HOSTS: text({
    about:
      'hosts of NATS and Postgres on this machine, comma-separated, *: all, with DEPLOYMENT=local; others need tls:// or ' +
      'sslmode=verify-full, and their authority in the file NODE_EXTRA_CA_CERTS',
    fallback: '',
  }),
}

/** Returns true if a host name of a URL is this machine. */
export const isLoopback = (host: string) => host === 'localhost' || /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)

/** Returns true if every URL names this machine or a host that may be reached without TLS. */
function staysHere(urls: readonly string[], other?: (name: string) => string | undefined): boolean {
  const allowed = (other?.('UNENCRYPTED_HOSTS') ?? '').split(',').map((host) => host.trim())
  const isReachable = ['test', 'live'].includes(other?.('DEPLOYMENT') ?? '')
  if (allowed.includes('*') && !isReachable) return true
  return urls.map((one) => new URL(one).hostname).every((host) => isLoopback(host) || allowed.includes(host))
}

/**
 * URL of a nats-server, or of each member of a cluster, comma-separated. Another machine needs `tls://`, unless
 * `UNENCRYPTED_HOSTS` names it.
 */
export const natsServers = (words: FieldText) =>
  field('URLs', words, (raw, other) => {
    if (raw === '' && words.fallback === '') return raw
    const servers = raw.split(',')
    const isServer = (one: string) => /^(?:nats|tls):\/\/[^/?#]+$/.test(one) && URL.canParse(one)
    if (!servers.every(isServer)) throw new Error('must be nats://host:port, or several of them separated by commas')
    const isEncrypted = servers.every((one) => one.startsWith('tls://'))
    if (!isEncrypted && !staysHere(servers, other))
      throw new Error('must be tls://host:port, because it names another machine')
    return raw
  })

/**
 * URL of a database on one host, or on several of which any may be the primary:
 * `postgres://role@a:5432,b:5432/name?target_session_attrs=read-write`. Another machine needs `sslmode=verify-full`,
 * unless `UNENCRYPTED_HOSTS` names it.
 */
export const databaseUrl = (words: FieldText) =>
  field('URL', words, (raw, other) => {
    if (raw === '' && words.fallback === '') return raw
    const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^@/]+@)?([^@/?#]+)(?:[/?]|$)/.exec(raw) ?? []
    const several = hosts.split(',')
    const each = several.map((host) => raw.replace(hosts, host))
    if (hosts === '' || !each.every((one) => URL.canParse(one)) || several.includes(''))
      throw new Error('must be postgres://role@host:port/name, or several hosts separated by commas')
    if (several.length > 1 && !/[?&]target_session_attrs=read-write(?:&|$)/.test(raw))
      throw new Error('must end with ?target_session_attrs=read-write, because it has several hosts')
    const isEncrypted = /[?&]sslmode=verify-full(?:&|$)/.test(raw)
    if (!isEncrypted && !staysHere(each, other))
      throw new Error('must have sslmode=verify-full, because it names another machine')
    return raw.replace(/\/+$/, '')
  })

/** Returns the value if it is within the range. Throws the bound that it exceeds. */
export function inRange<T extends number | bigint>(value: T, { least, most }: Range): T {
  if (value < least) throw new Error(`must be at least ${least}`)
  if (value > most) throw new Error(`must be at most ${most}`)
  return value
}

const greatestInteger = 999_999_999_999_999

export const integer = ({
  least = 0,
  most = greatestInteger,
  ...words
}: FieldText & { readonly least?: number; readonly most?: number }) => ({
  ...field('integer', words, (raw) =>
    inRange(Number(mustMatch(/^[0-9]{1,15}$/, 'a whole number')(raw)), { least, most }),
  ),
  range: { least, most },
})

export const percent = (words: FieldText) =>
  field('percent', words, (raw) => Number(mustMatch(/^(?:100|[1-9]?[0-9])$/, '0 to 100')(raw)))

const yearMs = 366 * 86_400_000

/** Duration from a millisecond to a year, unless it has bounds of its own. */
export const durationMs = ({
  minMs = 1,
  maxMs = yearMs,
  ...words
}: FieldText & { readonly minMs?: number; readonly maxMs?: number }) => ({
  ...integer({ ...words, least: minMs, most: maxMs }),
  type: 'milliseconds',
})

const greatestAmount = 10n ** 30n - 1n

/** Amount in the unit that its description names. */
export const amount = ({
  least = 0n,
  most = greatestAmount,
  ...words
}: FieldText & { readonly least?: bigint; readonly most?: bigint }) => ({
  ...field('amount', words, (raw) =>
    inRange(BigInt(mustMatch(/^[0-9]{1,30}$/, 'a string of digits')(raw)), { least, most }),
  ),
  range: { least, most },
})

export const oneOf = <const T extends string>(choices: readonly T[], words: FieldText) =>
  field(choices.join(' | '), words, (raw): T => {
    const found = choices.find((choice) => choice === raw)
    if (!found) throw new Error(`must be one of ${choices.join(', ')}`)
    return found
  })

/** List of at least one item; blanks around items and empty items are dropped. */
export const list = (words: FieldText) =>
  field('list', words, (raw) => {
    const items = raw
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
    if (items.length === 0) throw new Error('must contain at least one item')
    return items
  })

export const listOrNone = (words: FieldText) =>
  field('list', words, (raw) =>
    raw === 'none'
      ? []
      : raw
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean),
  )

/** List of networks such as `10.0.0.1` or `fd00::/8`, or `none`. */
export const networksOrNone = (words: FieldText) => {
  const items = listOrNone(words)
  return {
    ...items,
    parse: (raw: string) => {
      const networks = items.parse(raw)
      const wrong = networks.find((network) => !isNetwork(network))
      if (wrong) throw new Error('must be IP addresses or networks such as 10.0.0.0/8')
      return networks
    },
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/')
  const bitsMax = isIP(address) === 6 ? 128 : 32
  if (isIP(address) === 0 || more !== undefined) return false
  return bits === undefined || (/^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= bitsMax)
}

export const address = (words: FieldText) =>
  field('address', words, (raw) => mustMatch(/^0x[0-9a-fA-F]{40}$/, 'an address')(raw).toLowerCase() as `0x${string}`)

const keyPattern = /^0x[0-9a-fA-F]{64}$/

const hash = (words: FieldText) =>
  field('32-byte hash', words, (raw) => mustMatch(keyPattern, 'a 32-byte hash')(raw).toLowerCase() as `0x${string}`)

export const privateKey = (words: Omit<FieldText, 'secret' | 'fallback'>) =>
  field(
    'private key',
    { ...words, secret: true },
    (raw) => mustMatch(keyPattern, 'a private key')(raw) as `0x${string}`,
  )

export const privateKeys = (words: Omit<FieldText, 'secret' | 'fallback'>) =>
  field('private keys', { ...words, secret: true }, (raw) => {
    const keys = raw.split(',').map((key) => mustMatch(keyPattern, 'private keys, comma-separated')(key.trim()))
    if (new Set(keys).size !== keys.length) throw new Error('must not contain a key twice')
    return keys as `0x${string}`[]
  })

export const orWord = <W extends string, T>(word: W, inner: Field<T>): Field<T | W> => ({
  ...inner,
  type: `${inner.type} | ${word}`,
  parse: (raw) => (raw === word ? word : inner.parse(raw)),
})

export const genesisHash = {
  ...orWord(
    'unchecked',
    hash({
      about: 'hash of block 0, to detect a reset chain; unchecked: any',
      fallback: 'unchecked',
    }),
  ),
  emptyIsFault: true,
} as const
