import { NatsError } from 'nats'
import { pilotHoldSeconds, pilotMax } from '#infra/configuration/pilot'
import { processes } from '#infra/configuration/processes'
import { reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { floorsOf } from '#infra/operations/cli/status'
import { operatorPlace } from '#infra/operations/place'
import { counted } from '#infra/operations/text'
import type { Ask } from '#platform/bus/ask'
import type { Bus } from '#platform/bus/open'
import { variableIn } from '#platform/config'
import { ChainTerms } from '#shared/messages/chain'
import { PaymentsTerms } from '#shared/messages/payments'
import { PayoutsTerms } from '#shared/messages/payouts'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import { needs } from '../health/attention'
import { asked, type ExternalAnswer } from '../health/external'
import { readFacts } from '../health/facts'

export const page = 'infra/operations/runbook/first-live-day.md'

/** A difference of the running deployment from the page of the first live day. `anchor` is the page's heading. */
export type Deviation = { readonly anchor: string; readonly says: string }

type Known<Q extends Question> = Extract<ReadAnswerOf<Q>, { ok: unknown }>['ok']

export type DoctorFacts = {
  /** Returns the value of a setting in the deployment's environment, or else its default. */
  readonly setting: (name: string) => string | undefined
  readonly payments: ExternalAnswer<Known<typeof PaymentsTerms>>
  readonly payouts: ExternalAnswer<Known<typeof PayoutsTerms>>
  readonly chain: ExternalAnswer<Known<typeof ChainTerms>>
  /** Whether the stream of webhooks has one of the account. */
  readonly webhooks: Readonly<Record<ProviderAccount, ExternalAnswer<boolean>>>
  /** What needs attention, as `ops status` says. */
  readonly needs: readonly string[]
}

const micro = (name: string) => pilotMax(name) * 1_000_000n

/** Returns the deviations in the order of the page. A part that could not be read is one. */
export function deviationsIn(facts: DoctorFacts): Deviation[] {
  const { setting } = facts
  return [
    ...(setting('DEPLOYMENT') === 'live'
      ? []
      : [at('one-world', `DEPLOYMENT is ${setting('DEPLOYMENT') ?? 'not set'}: no real money moves.`)]),
    ...pilotDeviations(facts),
    ...fromTerms(facts.chain, 'hold', 'chain-relayer', ({ holdSeconds }) =>
      holdSeconds < pilotHoldSeconds
        ? [`The hold of card payments is ${holdSeconds} s, and refunds come within ${pilotHoldSeconds} s.`]
        : [],
    ),
    ...above(setting, 'hold', 'HOLD_MARGIN_MS', 'below'),
    ...above(setting, 'drip', 'DRIP_DAY_MAX_WEI'),
    ...fromTerms(facts.payouts, 'closed-markets', 'payouts', ({ marketClosed }) =>
      marketClosed && BigInt(marketClosed.dayAusdMaxOfAll) > 0n
        ? ['Cash-outs are allowed while the market of the rupiah is closed.']
        : [],
    ),
    ...(isGiven(setting('ALERTS_TO')) ? [] : [at('alerts', 'ALERTS_TO is not set: it is not known who is paged.')]),
    ...endpointDeviations(setting('RPC_URLS')),
    ...(isGiven(setting('BACKUPS_TO')) ? [] : [at('backups', 'BACKUPS_TO is not set: no backup is known.')]),
    ...rateDeviations(setting('RATE_SOURCES')),
    ...providerAccounts.flatMap((account) => webhookDeviations(account, facts.webhooks[account])),
    ...(setting('PAYER_NAME_SENT') === 'yes'
      ? []
      : [
          at(
            'payer-names',
            'PAYER_NAME_SENT is no: payments by virtual account in Indonesia lack the name that the law wants.',
          ),
        ]),
    ...(isGiven(setting('TERMS_VERSION'))
      ? []
      : [at('terms', 'TERMS_VERSION is none: no user accepts any terms of service.')]),
    ...(isGiven(setting('OPERATORS'))
      ? []
      : [at('operators', 'OPERATORS is none: one operator gives any sum away, under a name that nothing proves.')]),
    ...(isGiven(setting('TRUSTED_PROXIES'))
      ? []
      : [at('proxy', 'TRUSTED_PROXIES is empty: all callers share one rate limit.')]),
    ...facts.needs.map((line) => at('the-first-hour', `Needs attention: ${line}.`)),
  ]
}

const at = (anchor: string, says: string): Deviation => ({ anchor, says })
const isGiven = (value: string | undefined) => value !== undefined && value !== '' && value !== 'none'

function fromTerms<T>(
  read: ExternalAnswer<T>,
  anchor: string,
  service: string,
  find: (terms: T) => readonly string[],
): Deviation[] {
  if ('unknown' in read) return [at(anchor, `The terms of ${service} could not be read: ${read.unknown}.`)]
  return find(read.known).map((says) => at(anchor, says))
}

/** Compares a setting with the page's value. */
function above(
  setting: DoctorFacts['setting'],
  anchor: string,
  name: string,
  wrong: 'above' | 'below' = 'above',
): Deviation[] {
  const [value, wanted] = [BigInt(setting(name) ?? 0), pilotMax(name)]
  const isWrong = wrong === 'above' ? value > wanted : value < wanted
  return isWrong ? [at(anchor, `${name} is ${value}, ${wrong} the page's ${wanted}.`)] : []
}

function pilotDeviations({ setting, payments, payouts }: DoctorFacts): Deviation[] {
  const exceeds = (what: string, name: string, micros: string | undefined) =>
    micros === undefined
      ? [`${name} is not set: ${what} of all wallets have no limit.`]
      : BigInt(micros) > micro(name)
        ? [`${what} are limited by more than ${name}=${pilotMax(name)}.`]
        : []
  const everybody = (isInvited: boolean | undefined, verb: string) =>
    isInvited ? [] : [`PILOT_WALLETS is not set: every wallet can ${verb}.`]
  return [
    ...(isGiven(setting('PILOT_WALLETS'))
      ? []
      : [at('pilot-limits', 'PILOT_WALLETS is not set: every wallet can get verified, and then borrow.')]),
    ...fromTerms(payments, 'pilot-limits', 'payments', ({ topups }) => [
      ...everybody(topups.invitedOnly, 'top up'),
      ...exceeds('Top-ups', 'TOPUP_ALL_DAY_MAX_USD', topups.dayAusdMaxOfAll),
      ...exceeds('Top-ups of a wallet', 'TOPUP_DAY_MAX_USD', topups.dayAusdMax),
      ...exceeds('Open top-ups of a wallet', 'TOPUP_OPEN_MAX_USD', topups.openAusdMax),
      ...(BigInt(topups.openMax) > pilotMax('TOPUP_OPEN_MAX')
        ? [`A wallet may have ${topups.openMax} open top-ups, more than TOPUP_OPEN_MAX=${pilotMax('TOPUP_OPEN_MAX')}.`]
        : []),
      ...(BigInt(topups.dayCountMax ?? 0) > pilotMax('TOPUP_DAY_COUNT_MAX')
        ? [
            `A wallet may pay ${topups.dayCountMax} top-ups a day, more than ` +
              `TOPUP_DAY_COUNT_MAX=${pilotMax('TOPUP_DAY_COUNT_MAX')}.`,
          ]
        : []),
    ]),
    ...fromTerms(payouts, 'pilot-limits', 'payouts', ({ invitedOnly, dayAusdMaxOfAll, dayAusdMax }) => [
      ...everybody(invitedOnly, 'cash out'),
      ...exceeds('Cash-outs', 'CASHOUT_ALL_DAY_MAX_USD', dayAusdMaxOfAll),
      ...exceeds('Cash-outs of a wallet', 'CASHOUT_DAY_MAX_USD', dayAusdMax),
    ]),
    ...above(setting, 'pilot-limits', 'CREDIT_MAX_AUSD'),
    ...above(setting, 'pilot-limits', 'CREDIT_DAY_MAX_AUSD'),
  ]
}

function endpointDeviations(urls: string | undefined): Deviation[] {
  const hosts = new Set(
    (urls ?? '').split(',').flatMap((url) => (URL.canParse(url.trim()) ? [new URL(url.trim()).host] : [])),
  )
  // An endpoint's address may contain a key, so that only the number is printed.
  return hosts.size >= 2
    ? []
    : [at('endpoints', `RPC_URLS has ${counted(hosts.size, 'host')}: if it is down, nothing moves on the chain.`)]
}

/** Sources that are only compared with the quoted ones. */
const crossChecks = ['open-er-api', 'indodax']

function rateDeviations(sources: string | undefined): Deviation[] {
  const named = (sources ?? '').split(',').map((name) => name.trim())
  return named.some((name) => crossChecks.includes(name)) && named.length >= 2
    ? []
    : [at('rates', `RATE_SOURCES has no source to compare with: ${named.filter(Boolean).join(', ') || 'none'}.`)]
}

function webhookDeviations(account: ProviderAccount, seen: ExternalAnswer<boolean>): Deviation[] {
  if ('unknown' in seen)
    return [at('webhooks', `The webhooks of account ${account} could not be read: ${seen.unknown}.`)]
  return seen.known ? [] : [at('webhooks', `Account ${account} has never delivered a webhook.`)]
}

/** Settings that `ops` reads alone, and defaults of the services. */
const fallbacks = new Map(
  Object.values(processes).flatMap((fields) => Object.entries(fields).map(([name, { fallback }]) => [name, fallback])),
)

export const settingsIn =
  (env: NodeJS.ProcessEnv): DoctorFacts['setting'] =>
  (name) =>
    variableIn(env, name) ?? fallbacks.get(name)

async function termsOf<Q extends Question>(ask: Ask, question: Q): Promise<ExternalAnswer<Known<Q>>> {
  return asked(async () => {
    const answer = await ask(question, {} as RequestOf<Q>)
    if ('refused' in answer) throw new Error(answer.refused)
    return answer.ok as Known<Q>
  })
}

const hasWebhook = (open: () => Promise<Bus>, account: ProviderAccount): Promise<ExternalAnswer<boolean>> =>
  asked(async () => {
    const manager = await (await open()).nc.jetstreamManager({ timeout: 5_000, checkAPI: false })
    try {
      await manager.streams.getMessage('WEBHOOKS', { last_by_subj: `webhooks.payments.${account}.>` })
      return true
    } catch (error) {
      if (error instanceof NatsError && error.api_error?.code === 404) return false
      throw error
    }
  })

async function readDoctorFacts(operator: Operator, env: NodeJS.ProcessEnv): Promise<DoctorFacts> {
  const { ask, bus } = operator
  const [payments, payouts, chain, ID, MY, system] = await Promise.all([
    termsOf(ask, PaymentsTerms),
    termsOf(ask, PayoutsTerms),
    termsOf(ask, ChainTerms),
    hasWebhook(bus, 'ID'),
    hasWebhook(bus, 'MY'),
    readFacts({ ...operator, place: operatorPlace(env) }),
  ])
  return {
    setting: settingsIn(env),
    payments,
    payouts,
    chain,
    webhooks: { ID, MY },
    needs: needs(system, floorsOf(1, env)),
  }
}

export const doctor = reading({
  does: 'list each deviation from the page of the first live day',
  usage: 'doctor [--json]',
  read: async (_, operator) => {
    const deviations = deviationsIn(await readDoctorFacts(operator, process.env))
    return { text: textOf(deviations), data: { page, deviations }, ok: deviations.length === 0 }
  },
})

const textOf = (deviations: readonly Deviation[]): string =>
  deviations.length === 0
    ? `as ${page} says`
    : [
        `${counted(deviations.length, 'deviation')} from ${page}`,
        ...deviations.map(({ anchor, says }) => `  #${anchor}  ${says}`),
      ].join('\n')
