/** Faults of the sandbox. Probabilities are 0 to 1, and zero means that the fault does not occur. */
export type Faults = {
  readonly webhooks: {
    readonly drop: number
    readonly duplicate: number
    /** True if each delivery is delayed by up to half a second. */
    readonly reorder: boolean
    readonly delayMs: number
    /** Events that are sent. If empty, all are. */
    readonly only: readonly string[]
    readonly times: number
    /** True if every delivery gets its own webhook-id. */
    readonly newIds: boolean
  }
  readonly api: {
    /** Probability of a response with 500 without processing. */
    readonly errorRate: number
    /** Probability of a response with 500 after processing (writes only). */
    readonly errorAfterAccept: number
    /** Probability of no response for a minute after processing (writes only). */
    readonly timeoutAfterAccept: number
    /** Probability of a response with 500 and processing `acceptLaterMs` later (writes only). */
    readonly acceptLater: number
    readonly acceptLaterMs: number
    readonly delayMs: number
    /** Probability of 429. Only at a probability of 1 do the headers show that no calls are left. */
    readonly rateLimitRate: number
    /** Probability of 403, as to an address outside the allow-list. */
    readonly forbidSender: number
    /** Probability of capturing one minor unit too little. */
    readonly wrongAmount: number
    /** Probability of 404 to a read of refunds. */
    readonly hideRefunds: number
    /** Probability of 404 to a read of disputes. */
    readonly hideDisputes: number
    /** Probability of 404 to a read of payments, as shortly after their webhook. */
    readonly hidePayments: number
    /** Probability that a payment which succeeded is returned as `FAILED`. */
    readonly failPayments: number
    /** Probability of odd times: year 1, the epoch as a number, or no time zone. */
    readonly oddTimes: number
    /** Advance of the provider's clock in ms, which also the `Date` of responses shows. */
    readonly clockAheadMs: number
    /** Probability of opening a checkout over a tenth of the amount. */
    readonly otherCheckout: number
    readonly namelessRefunds: number
    /** Probability of treating a refund that is repeated under its idempotency key as new. */
    readonly forgetKeys: number
    /** Probability of refusing a new payout as for an unavailable bank. */
    readonly closedChannels: number
    /** Probability of 403 for the list, as for a key without its permission. */
    readonly forbidList: number
    /** Delay in ms until a row or change appears in the list of transactions. */
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
    // By then, a client has retried and looked the item up in vain.
    acceptLaterMs: 4_000,
    delayMs: 0,
    rateLimitRate: 0,
    forbidSender: 0,
    wrongAmount: 0,
    hideRefunds: 0,
    hideDisputes: 0,
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
const weekMs = 7 * 86_400_000
const aheadMs: Check = {
  fits: between(-weekMs, weekMs), // Within a week every payment is settled.
  words: 'milliseconds up to a week, before or after',
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
  ['api.hideDisputes', probability],
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

/** Replaces each given section, and resets the faults that the section omits. `{}` ends all faults. */
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
