/** Probabilities are 0 to 1; zero means no fault. */
export type Faults = {
  readonly webhooks: {
    readonly drop: number
    readonly duplicate: number
    /** Delays each copy by up to half a second. */
    readonly reorder: boolean
    readonly delayMs: number
    /** Sends only these events; empty: all. */
    readonly only: readonly string[]
    readonly times: number
    /** Gives every copy its own webhook-id. */
    readonly newIds: boolean
  }
  readonly api: {
    /** Responds 500 without processing. */
    readonly errorRate: number
    /** Processes, then responds 500 (writes only). */
    readonly errorAfterAccept: number
    /** Processes, then does not respond for a minute (writes only). */
    readonly timeoutAfterAccept: number
    /** Responds 500 and processes `acceptLaterMs` later (writes only). */
    readonly acceptLater: number
    readonly acceptLaterMs: number
    readonly delayMs: number
    /** Responds 429; only at a rate of 1 do the headers show no calls left. */
    readonly rateLimitRate: number
    /** Responds 403, as to an address outside the allow-list. */
    readonly forbidSender: number
    /** Captures one minor unit too little. */
    readonly wrongAmount: number
    /** Responds 404 to reads of refunds. */
    readonly hideRefunds: number
    /** Responds 404 to reads of payments, as shortly after their webhook. */
    readonly hidePayments: number
    /** Returns payments that succeeded as `FAILED`. */
    readonly failPayments: number
    /** Returns year 1, the epoch as a number, or no time zone. */
    readonly oddTimes: number
    /** Also of the `Date` of responses. */
    readonly clockAheadMs: number
    /** Opens a checkout over a tenth of the amount. */
    readonly otherCheckout: number
    readonly namelessRefunds: number
    /** Treats a refund repeated under its idempotency key as new. */
    readonly forgetKeys: number
    /** Refuses new payouts as for an unavailable bank. */
    readonly closedChannels: number
    /** Responds 403, as for a key without its permission. */
    readonly forbidList: number
    /** Delay until a row or change appears in the list of transactions. */
    readonly listDelayMs: number
  }
  readonly seed: number | null
}

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
    // By then a client has retried and looked the item up in vain.
    acceptLaterMs: 4_000,
    delayMs: 0,
    rateLimitRate: 0,
    forbidSender: 0,
    wrongAmount: 0,
    hideRefunds: 0,
    hidePayments: 0,
    failPayments: 0,
    oddTimes: 0,
    clockAheadMs: 0,
    otherCheckout: 0,
    namelessRefunds: 0,
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
const aheadMs: Check = {
  fits: between(-86_400_000, 86_400_000),
  words: 'milliseconds up to a day, before or after',
}
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
  ['api.hidePayments', probability],
  ['api.failPayments', probability],
  ['api.oddTimes', probability],
  ['api.clockAheadMs', aheadMs],
  ['api.otherCheckout', probability],
  ['api.namelessRefunds', probability],
  ['api.forgetKeys', probability],
  ['api.closedChannels', probability],
  ['api.forbidList', probability],
  ['api.listDelayMs', waitMs],
])

/** Replaces each given section, resetting its omitted faults; `{}` ends all. */
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

const section = <K extends 'webhooks' | 'api'>(current: Faults, change: Record<string, unknown>, name: K): Faults[K] =>
  name in change ? { ...noFaults[name], ...(change[name] as Partial<Faults[K]>) } : current[name]

function faultsOfSection(section: string, value: unknown): string[] {
  if (section === 'seed') {
    return value === null || Number.isSafeInteger(value) ? [] : ['seed must be an integer or null']
  }
  if (section !== 'webhooks' && section !== 'api') return [`${section} is not a fault section`]
  if (typeof value !== 'object' || value === null) return [`${section} must be an object`]
  return Object.entries(value).flatMap(([name, setting]) => {
    const check = checks.get(`${section}.${name}`)
    if (!check) return [`${section}.${name} is not a fault`]
    return check.fits(setting) ? [] : [`${section}.${name} must be ${check.words}`]
  })
}
