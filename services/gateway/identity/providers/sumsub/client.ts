import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { type Clock, toUnixSeconds } from '#platform/clock'
import { schemaReader } from '#platform/schema'
import {
  type Finding,
  type IdentityProvider,
  type Progress,
  ProviderDown,
  personNameOf,
  referenceOf,
  type Word,
} from '../../provider'
import { hostedLink, openIdentityApi } from '../api'
import { isFinal, keptOfSumsub, maybe, parseSumsub, ReviewResult, timeOf, verifySumsub, wordOf } from './webhook'

/** Options of the client. `secretKey` signs our requests, not webhooks. */
type SumsubOptions = {
  apiUrl: string
  /** Token of the app. Production tokens begin with `prd:`, sandbox tokens with `sbx:`. */
  appToken: string
  secretKey: string
  webhookSecrets: readonly string[]
  level: string
  clock: Clock
}

const linkTtlSeconds = 1_800
/** Path of docs.sumsub.com, "Generate external WebSDK link". */
const linkPath = '/resources/sdkIntegrations/levels/-/websdkLink'
/** Path of docs.sumsub.com, "Get applicant data by externalUserId". */
const personPath = (wallet: string) => `/resources/applicants/-;externalUserId=${wallet}/one`

/** Path of docs.sumsub.com, "Get applicant data by applicantId". */
const applicantPath = (id: string) => `/resources/applicants/${encodeURIComponent(id)}/one`
/** Path of docs.sumsub.com, "Get duplicate applicants check results": the result of the latest automatic check. */
const duplicatesPath = (id: string) =>
  `/resources/checks/latest?type=SIMILAR_SEARCH&applicantId=${encodeURIComponent(id)}`
/** Maximum number of duplicates that are looked up; further ones count as strangers. */
const duplicatesMax = 10

export function sumsub(options: SumsubOptions): IdentityProvider {
  const api = openIdentityApi(options.apiUrl, options.clock, (nowMs, method, path, body) =>
    signedHeaders(options, String(toUnixSeconds(nowMs)), method, path, body),
  )
  return {
    name: 'sumsub',
    verify: (body, headers) => verifySumsub(body, headers, options.webhookSecrets),
    parse: parseSumsub,
    kept: keptOfSumsub,
    hasForeignInquiries: false, // Links are signed, and only we can sign one.
    linkFreshMs: (linkTtlSeconds * 1_000) / 2,
    async createLink(wallet) {
      const body = JSON.stringify({
        levelName: options.level,
        userId: wallet,
        ttlInSecs: linkTtlSeconds,
      })
      const { url } = await api.post(linkPath, body)
      return { url: hostedLink(url), ref: null }
    },
    async lookUp(wallet) {
      const startedMs = performance.now()
      const { status, body } = await api.get(personPath(wallet))
      if (status === 404) return nobody(body)
      const sandbox = !options.appToken.startsWith('prd:')
      // The answer shows the applicant as of the request, so a verdict that was given meanwhile is newer.
      const nowMs = Math.floor(api.now() - (performance.now() - startedMs))
      const asked = { wallet, level: options.level, sandbox, nowMs }
      const found = findingOf(body, asked)
      if ('fault' in found) throw new ProviderDown(`sumsub: ${found.fault}`)
      return found
    },
    async findName(wallet) {
      const { status, body } = await api.get(personPath(wallet))
      if (status === 404) {
        nobody(body)
        return null
      }
      const read = readNamed(body)
      if ('fault' in read) throw new ProviderDown(`sumsub: ${read.fault}`)
      const { value } = read
      if (value.externalUserId !== wallet) throw new ProviderDown('sumsub: the applicant is not the one requested')
      const isApproved = value.review?.levelName === options.level && standingWord(value, options.level) === 'approved'
      return isApproved ? personNameOf(value.info?.firstName, value.info?.lastName) : null
    },
    async findSamePerson(wallet, applicantId) {
      const { status, body } = await api.get(duplicatesPath(applicantId))
      // The level has no such check, or the check has not run yet. That does not mean "no duplicates".
      if (status === 404) throw new ProviderDown('sumsub: no duplicates check of this applicant')
      const found = duplicatesIn(body)
      if ('fault' in found) throw new ProviderDown(`sumsub: ${found.fault}`)
      const ids = found.applicantIds.filter((id) => id !== applicantId)
      const walletsOf = async (id: string) => {
        const applicant = await api.get(applicantPath(id))
        return applicant.status === 404 ? [null] : walletsIn(applicant.body) // A 404 means that the applicant was deleted since.
      }
      const known = await Promise.all(ids.slice(0, duplicatesMax).map(walletsOf))
      const others = known.flat().filter((one) => one !== wallet)
      return ids.length > duplicatesMax || found.isUnnamed ? [...others, null] : others
    },
  }
}

/** Result of the duplicates check. All fields may be null; the matching items are personal data. */
const Duplicates = Type.Object({
  answer: maybe(Type.String()),
  similarSearchInfo: maybe(
    Type.Object({
      duplicateApplicantHits: maybe(Type.Array(Type.Object({ applicantId: Type.String() }))),
    }),
  ),
})
const readDuplicates = schemaReader(Duplicates)

/**
 * Reads the result, which is documented as the only item of `checks`, and was seen without the list. Hits
 * count whatever the answer.
 */
function duplicatesIn(
  body: Record<string, unknown>,
): { applicantIds: string[]; isUnnamed: boolean } | { fault: string } {
  const check = Array.isArray(body.checks) ? body.checks[0] : body
  const read = readDuplicates(check ?? {})
  if ('fault' in read) return read
  const { answer, similarSearchInfo } = read.value
  if (answer !== 'GREEN' && answer !== 'RED') return { fault: 'a duplicates check without an answer' }
  const hits = similarSearchInfo?.duplicateApplicantHits ?? []
  const applicantIds = [...new Set(hits.map((hit) => hit.applicantId))]
  return { applicantIds, isUnnamed: answer === 'RED' && applicantIds.length === 0 }
}

/** Returns the wallet of a duplicate. A duplicate without a wallet of ours counts only if it was approved. */
function walletsIn(body: Record<string, unknown>): (`0x${string}` | null)[] {
  const read = readApplicant(body)
  if ('fault' in read) throw new ProviderDown(`sumsub: ${read.fault}`)
  const wallet = referenceOf(read.value.externalUserId)
  return wallet || wordOf(read.value.review?.reviewResult) === 'approved' ? [wallet] : []
}

/** Reads a 404. Only one in Sumsub's own format is about the user, because a wrong URL gives 404s too. */
function nobody({ code }: Record<string, unknown>): Finding {
  if (code === 404) return { nobody: true }
  throw new ProviderDown('sumsub: a 404 that is not in the format of its API')
}

const signedHeaders = (
  { appToken, secretKey }: SumsubOptions,
  ts: string,
  method: 'GET' | 'POST',
  path: string,
  body: string,
) => ({
  'X-App-Token': appToken,
  'X-App-Access-Ts': ts,
  'X-App-Access-Sig': accessSignature(secretKey, ts, method, path, body),
})

/**
 * Returns the signature of a request: hex HMAC-SHA256 over time, method, path with query, and body. The time
 * must be within a minute of Sumsub's (docs.sumsub.com, "Authentication").
 */
export const accessSignature = (secretKey: string, ts: string, method: string, path: string, body: string): string =>
  createHmac('sha256', secretKey).update(`${ts}${method}${path}${body}`).digest('hex')

/** Applicant of docs.sumsub.com, "Get applicant data by externalUserId". Verdicts need no other field. */
const Applicant = Type.Object({
  id: maybe(Type.String()),
  externalUserId: maybe(Type.String()),
  /** True if the applicant is deactivated, or deleted: "as if it never existed". */
  deleted: maybe(Type.Boolean()),
  review: maybe(
    Type.Object({
      levelName: maybe(Type.String()),
      attemptId: maybe(Type.String()),
      reviewStatus: maybe(Type.String()),
      reviewResult: maybe(ReviewResult),
      /** Time at which the check began. */
      createDate: maybe(Type.String()),
      /** Time at which the check ended, to the second: `2024-02-02 18:31:57+0000`. */
      reviewDate: maybe(Type.String()),
    }),
  ),
})
const readApplicant = schemaReader(Applicant)

/** The same applicant, with the name that Sumsub read from the documents (`info`), not the one that the user typed (`fixedInfo`). */
const Named = Type.Object({
  ...Applicant.properties,
  info: maybe(Type.Object({ firstName: maybe(Type.String()), lastName: maybe(Type.String()) })),
})
const readNamed = schemaReader(Named)

const turns: ReadonlyMap<string, Progress> = new Map([
  ['init', 'unfinished'],
  ['awaitingUser', 'unfinished'],
  ['pending', 'submitted'],
  ['prechecked', 'submitted'],
  ['queued', 'submitted'],
  ['awaitingService', 'submitted'],
  ['onHold', 'submitted'],
])

/** Data for reading an applicant. `sandbox` follows from our own key, because an applicant has none. */
type ApplicantContext = {
  readonly wallet: string
  readonly level: string
  readonly sandbox: boolean
  /** Time of the request, in unix ms by the provider's clock: progress counts from it, and an approval stands at it. */
  readonly nowMs: number
}

function findingOf(answer: unknown, asked: ApplicantContext): Finding | { fault: string } {
  const got = readApplicant(answer)
  if ('fault' in got) return got
  const { value } = got
  if (value.externalUserId !== asked.wallet) return { fault: 'the applicant is not the one requested' }
  const review = value.review ?? {}
  const word = standingWord(value, asked.level)
  const known = {
    eventId: [value.id, 'look-up', review.attemptId, review.reviewDate, word].join(':'),
    subjectRef: asked.wallet,
    providerRef: value.id ?? null,
    level: review.levelName ?? null,
    word,
    sandbox: asked.sandbox,
    ...(word === 'rejected' && isFinal(review.reviewResult) && { isFinal: true as const }),
  }
  const ended = timeOf(review.reviewDate)
  const progress = word === 'none' && turns.get(review.reviewStatus ?? '')
  if (progress) return { statement: { ...known, progress, occurredAtMs: asked.nowMs } }
  if (word === 'none') return { statement: { ...known, occurredAtMs: ended?.fromMs ?? 0 } }
  if (word === 'approved') {
    const began = ended ?? timeOf(review.createDate)
    if (!began) return { fault: 'an approval without a time' }
    return { statement: { ...known, occurredAtMs: began.fromMs, standingAtMs: asked.nowMs } }
  }
  if (word === 'reset' || !ended) return { undated: known }
  return { statement: { ...known, occurredAtMs: ended.toMs } }
}

/**
 * Returns the verdict about an applicant. `init` at our level is a reset; at another level the user was only
 * sent there.
 */
function standingWord({ deleted, review }: Static<typeof Applicant>, level: string): Word {
  if (deleted) return 'reset'
  if (review?.reviewStatus === 'completed') return wordOf(review.reviewResult)
  return review?.reviewStatus === 'init' && review.levelName === level ? 'reset' : 'none'
}
