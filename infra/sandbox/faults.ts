/** How the outside world misbehaves. Probabilities are 0 to 1; zeros are good behaviour. */
export type Faults = {
  readonly webhooks: {
    /** Lost for good: no retry brings it. */
    readonly drop: number
    /** Handed over twice. */
    readonly duplicate: number
    /** Each copy waits a random part of half a second, so they arrive in any order. */
    readonly reorder: boolean
    readonly delayMs: number
    /** Only these events are sent; empty: all. */
    readonly only: readonly string[]
    /** Copies of each event. */
    readonly times: number
    /** Every copy carries its own webhook-id, as if the provider had sent a new event. */
    readonly newIds: boolean
  }
  readonly api: {
    /** 500 before anything was done. */
    readonly errorRate: number
    /** 500 although everything was done (writes only). */
    readonly errorAfterAccept: number
    /** Everything is done, then no answer for a minute (writes only). */
    readonly timeoutAfterAccept: number
    /** 500 at once, and `acceptLaterMs` later it is done all the same (writes only). */
    readonly acceptLater: number
    readonly acceptLaterMs: number
    readonly delayMs: number
    /** 429; at a rate of 1 with nothing left of the budget, below it with calls left. */
    readonly rateLimitRate: number
    /** 403 to every call, as from an address outside the account's allow-list. */
    readonly forbidSender: number
    /** A capture is one smallest unit short. */
    readonly wrongAmount: number
    /** 404 on everything that reads refunds, although they are there. */
    readonly hideRefunds: number
    /** A refund asked for again under its key counts as another one. */
    readonly forgetKeys: number
    /** `CHANNEL_CODE_NOT_SUPPORTED` to a new payout: the bank is not served for a while. */
    readonly closedChannels: number
    /** 403 on the list of transactions, as for a key without its permission. */
    readonly forbidList: number
    /** How much later than it happened a row, or a change of it, is in the list of transactions. */
    readonly listDelayMs: number
  }
  readonly seed: number | null
}

/** The honest context. */
export const noFaults: Faults = {
  webhooks: {
    drop: 0,
    duplicate: 0,
    reorder: false,
    delayMs: 0,
    only: [],
    times: 1,
    newIds: false,
  },
  api: {
    errorRate: 0,
    errorAfterAccept: 0,
    timeoutAfterAccept: 0,
    acceptLater: 0,
    // Late enough that a client has asked again, and looked in vain.
    acceptLaterMs: 4_000,
    delayMs: 0,
    rateLimitRate: 0,
    forbidSender: 0,
    wrongAmount: 0,
    hideRefunds: 0,
    forgetKeys: 0,
    closedChannels: 0,
    forbidList: 0,
    listDelayMs: 0,
  },
  seed: null,
}

type Check = { readonly fits: (value: unknown) => boolean; readonly words: string }

const between = (min: number, max: number) => (value: unknown) =>
  typeof value === 'number' && value >= min && value <= max
const probability: Check = { fits: between(0, 1), words: 'a probability from 0 to 1' }
const flag: Check = { fits: (value) => typeof value === 'boolean', words: 'true or false' }
const waitMs: Check = { fits: between(0, 600_000), words: 'milliseconds up to 600000' }

const checks = new Map<string, Check>([
  ['webhooks.drop', probability],
  ['webhooks.duplicate', probability],
  ['webhooks.reorder', flag],
  ['webhooks.delayMs', waitMs],
  [
    'webhooks.only',
    {
      fits: (v) => Array.isArray(v) && v.every((e) => typeof e === 'string'),
      words: 'a list of event names',
    },
  ],
  [
    'webhooks.times',
    {
      fits: (v) => between(1, 100)(v) && Number.isInteger(v),
      words: 'a whole number from 1 to 100',
    },
  ],
  ['webhooks.newIds', flag],
  ['api.errorRate', probability],
  ['api.errorAfterAccept', probability],
  ['api.timeoutAfterAccept', probability],
  ['api.acceptLater', probability],
  ['api.acceptLaterMs', waitMs],
  ['api.delayMs', waitMs],
  ['api.rateLimitRate', probability],
  ['api.forbidSender', probability],
  ['api.wrongAmount', probability],
  ['api.hideRefunds', probability],
  ['api.forgetKeys', probability],
  ['api.closedChannels', probability],
  ['api.forbidList', probability],
  ['api.listDelayMs', waitMs],
])

/**
 * Replaces every section that is named: what it leaves out is off. A section that is not named
 * stays as it is, and an empty object ends all faults. The answer lists what is wrong instead,
 * and then nothing changes.
 */
export function changeFaults(
  current: Faults,
  change: Record<string, unknown>,
): { faults: Faults } | { wrong: string[] } {
  if (Object.keys(change).length === 0) return { faults: noFaults }
  const wrong = Object.entries(change).flatMap(([name, value]) => faultsOfSection(name, value))
  if (wrong.length > 0) return { wrong }
  const webhooks = section(current, change, 'webhooks')
  const api = section(current, change, 'api')
  const seed = 'seed' in change ? (change.seed as number | null) : current.seed
  return { faults: { webhooks, api, seed } }
}

const section = <K extends 'webhooks' | 'api'>(
  current: Faults,
  change: Record<string, unknown>,
  name: K,
): Faults[K] =>
  name in change ? { ...noFaults[name], ...(change[name] as Partial<Faults[K]>) } : current[name]

function faultsOfSection(section: string, value: unknown): string[] {
  if (section === 'seed') {
    return value === null || Number.isSafeInteger(value) ? [] : ['seed must be an integer or null']
  }
  if (section !== 'webhooks' && section !== 'api') return [`${section} is not a kind of fault`]
  if (typeof value !== 'object' || value === null) return [`${section} must be an object`]
  return Object.entries(value).flatMap(([name, setting]) => {
    const check = checks.get(`${section}.${name}`)
    if (!check) return [`${section}.${name} is not a fault`]
    return check.fits(setting) ? [] : [`${section}.${name} must be ${check.words}`]
  })
}
