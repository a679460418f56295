import type { Clock } from '#platform/clock'
import {
  type Finding,
  type IdentityProvider,
  ProviderDown,
  personNameOf,
  referenceOf,
  type Statement,
} from '../../provider'
import { hostedLink, openIdentityApi, textOf } from '../api'
import { at, keptOf, parsePersona, templateOf, verifyPersona } from './webhook'

type PersonaOptions = {
  apiUrl: string
  /** API key. Live keys begin with `persona_production_`; all others count as sandbox. */
  apiKey: string
  webhookSecrets: readonly string[]
  templateId: string
  clock: Clock
}

/** API version, pinned against changes of the account's default. */
const version = '2025-12-08'
const pageSize = 20
/** Maximum number of pages; no user has more decided inquiries. */
const pagesMax = 10

export function persona(options: PersonaOptions): IdentityProvider {
  const sandbox = !options.apiKey.startsWith('persona_production_')
  const headers = {
    Authorization: `Bearer ${options.apiKey}`,
    'Persona-Version': version,
    'Key-Inflection': 'kebab',
  }
  const api = openIdentityApi(options.apiUrl, options.clock, () => headers)
  const inquiries = '/api/v1/inquiries'
  const post = (path: string, body: string) => api.post(`${inquiries}${path}`, body)
  const pageOf = async (asked: Filter, after: string | undefined) => {
    const query = queryOf(asked, after)
    const { status, body } = await api.get(`${inquiries}?${query}`)
    // Only an empty list means that the user is unknown.
    if (status !== 200) throw new ProviderDown(`the identity provider returned ${status}`)
    const page = readInquiries(body, asked)
    if ('fault' in page) throw new ProviderDown(`persona: ${page.fault}`)
    return page
  }
  const listAll = async (asked: Filter): Promise<Decided[]> => {
    const all: Decided[] = []
    for (let page = 1, after: string | undefined; page <= pagesMax; page++) {
      const { inquiries: read, hasMore } = await pageOf(asked, after)
      all.push(...read)
      after = read.at(-1)?.id
      if (!after || !(hasMore || read.length >= pageSize)) return all
    }
    throw new ProviderDown('persona: too many inquiries to read')
  }
  return {
    name: 'persona',
    verify: (body, received, nowMs) => verifyPersona(body, received, options.webhookSecrets, nowMs),
    parse: (body) => parsePersona(body, sandbox),
    kept: keptOf,
    // The hosted flow takes any template and reference from any visitor (docs.withpersona.com, "Creating
    // Inquiries"), unless client-side creation is switched off for the template.
    hasForeignInquiries: true,
    linkFreshMs: 60_000, // A one-time link ends once it was opened.
    async createLink(wallet) {
      const attributes = { 'inquiry-template-id': options.templateId, 'reference-id': wallet }
      const inquiry = await post('', JSON.stringify({ data: { attributes } }))
      const id = (inquiry.data as { id?: unknown } | undefined)?.id
      if (typeof id !== 'string' || !/^inq_[A-Za-z0-9]{1,64}$/.test(id))
        throw new ProviderDown('the response of the identity provider has no inquiry')
      const link = await post(`/${id}/generate-one-time-link`, '{}')
      const meta = link.meta as Record<string, unknown> | undefined
      return { url: hostedLink(meta?.['one-time-link']), ref: id }
    },
    async lookUp(wallet, ownRefs): Promise<Finding> {
      const all = await listAll({ 'reference-id': wallet })
      return findingOf(all, { wallet, ownRefs, templateId: options.templateId, sandbox })
    },
    /** Reads the name of the approved inquiry, which Persona fills in from the documents (docs.withpersona.com, "Inquiries"). */
    async findName(wallet, ownRefs) {
      const all = await listAll({ 'reference-id': wallet })
      const found = findingOf(all, { wallet, ownRefs, templateId: options.templateId, sandbox })
      if (!('statement' in found) || found.statement.word !== 'approved' || !found.statement.providerRef) return null
      const { status, body } = await api.get(`${inquiries}/${encodeURIComponent(found.statement.providerRef)}`)
      if (status !== 200) throw new ProviderDown('persona: the approved inquiry is not found')
      const attributes = at(at(body, 'data'), 'attributes')
      return personNameOf(at(attributes, 'name-first'), at(attributes, 'name-last'))
    },
    /**
     * Finds the wallets of the inquiry's account. An account is one person (docs.withpersona.com, "Accounts")
     * if Persona consolidates accounts ("Consolidate Accounts"); by default each reference has an account of
     * its own.
     */
    async findSamePerson(wallet, inquiryId, isOurs) {
      const { status, body } = await api.get(`${inquiries}/${encodeURIComponent(inquiryId)}`)
      if (status !== 200) throw new ProviderDown('persona: the approved inquiry is not found')
      const account = accountOf(at(body, 'data'))
      if (!account) throw new ProviderDown('persona: an inquiry without an account')
      const all = await listAll({ 'account-id': account })
      if (!all.some(({ id }) => id === inquiryId)) throw new ProviderDown('persona: an account without its inquiry')
      const others = all.filter(({ reference }) => reference !== wallet)
      // An inquiry without a wallet of ours counts only if it was approved.
      const found = others.map(async ({ id, reference, status }) =>
        // guard: only inquiries that we created name the wallets of a person
        (reference ? await isOurs(reference, id) : status === 'approved') ? [reference] : [],
      )
      return [...new Set((await Promise.all(found)).flat())]
    },
  }
}

/** Returns a query for decided inquiries. Open ones, one per link, must not push a verdict off the pages. */
function queryOf(asked: Filter, after: string | undefined): URLSearchParams {
  return new URLSearchParams({
    ...Object.fromEntries(Object.entries(asked).map(([name, value]) => [`filter[${name}]`, value])),
    'filter[status]': 'approved,declined',
    'page[size]': String(pageSize),
    ...(after === undefined ? {} : { 'page[after]': after }),
  })
}

/** Filter of docs.withpersona.com, "List all Inquiries". */
type Filter = { readonly 'reference-id': string } | { readonly 'account-id': string }

const accountOf = (inquiry: unknown): string | null =>
  textOf(at(at(at(at(inquiry, 'relationships'), 'account'), 'data'), 'id'))

type Decided = {
  readonly id: string
  /** Wallet of the inquiry; null if we never assigned its reference. */
  readonly reference: `0x${string}` | null
  readonly status: string | null
  readonly templateId: string | null
  /** Unix ms; null if the provider gives no time. */
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly decidedAtMs: number | null
}
type InquiryContext = {
  readonly wallet: string
  readonly ownRefs: ReadonlySet<string>
  readonly templateId: string
  readonly sandbox: boolean
}

/** Reads a page. Inquiries of other users on it mean that the filter was ignored. */
function readInquiries(answer: unknown, asked: Filter): { inquiries: Decided[]; hasMore: boolean } | { fault: string } {
  const rows = at(answer, 'data')
  if (!Array.isArray(rows)) return { fault: 'the answer has no list of inquiries' }
  const inquiries: Decided[] = []
  for (const row of rows) {
    const attributes = at(row, 'attributes')
    const id = textOf(at(row, 'id'))
    if (!id) return { fault: 'an inquiry without an id' }
    const reference = textOf(at(attributes, 'reference-id'))
    const isAsked = 'account-id' in asked ? accountOf(row) === asked['account-id'] : reference === asked['reference-id']
    if (!isAsked) return { fault: 'an inquiry of another user than was asked for' }
    inquiries.push({
      id,
      reference: referenceOf(reference),
      status: textOf(at(attributes, 'status')),
      templateId: templateOf(row),
      createdAtMs: timeOf(at(attributes, 'created-at')),
      updatedAtMs: timeOf(at(attributes, 'updated-at')),
      decidedAtMs: timeOf(at(attributes, 'decisioned-at')),
    })
  }
  return { inquiries, hasMore: textOf(at(at(answer, 'links'), 'next')) !== null }
}

/**
 * Returns the finding of a user's inquiries. A later inquiry can change an earlier verdict; a redacted
 * inquiry keeps its status and times.
 */
function findingOf(inquiries: readonly Decided[], asked: InquiryContext): Finding {
  if (inquiries.length === 0) return { nobody: true }
  const own = inquiries.filter(({ id }) => asked.ownRefs.has(id))
  const verdicts = own.flatMap((inquiry) => verdictIn(inquiry, asked))
  const [newest] = verdicts.sort(newestFirst)
  const { id = null, templateId = null, status = null } = newest?.inquiry ?? {}
  const known = {
    eventId: [id, 'look-up', status, newest?.atMs].join(':'),
    subjectRef: asked.wallet,
    providerRef: id,
    level: templateId,
    word: newest?.word ?? 'none',
    sandbox: asked.sandbox,
  }
  if (newest && newest.atMs === null) return { undated: known }
  return { statement: { ...known, occurredAtMs: newest?.atMs ?? 0 } }
}

type InquiryVerdict = { inquiry: Decided; word: Statement['word']; atMs: number | null }

/**
 * Returns the verdict of an inquiry. If its time is missing or in whole seconds, an approval gets the
 * earliest time and a refusal the latest.
 */
function verdictIn(inquiry: Decided, { templateId }: InquiryContext): InquiryVerdict[] {
  const { status, createdAtMs, updatedAtMs, decidedAtMs } = inquiry
  if (status === 'approved' && inquiry.templateId === templateId) {
    const atMs = decidedAtMs ?? createdAtMs
    return atMs === null ? [] : [{ inquiry, word: 'approved', atMs }]
  }
  if (status === 'declined' && (inquiry.templateId ?? templateId) === templateId) {
    const atMs = decidedAtMs ?? updatedAtMs
    return [{ inquiry, word: 'rejected', atMs: atMs === null ? null : endOfSecond(atMs) }]
  }
  return []
}

const endOfSecond = (ms: number) => (ms % 1_000 === 0 ? ms + 999 : ms)

/** Orders verdicts, newest first. A verdict without a time comes first: it is a refusal that may still be valid. */
const newestFirst = (left: InquiryVerdict, right: InquiryVerdict): number =>
  (right.atMs ?? Number.MAX_SAFE_INTEGER) - (left.atMs ?? Number.MAX_SAFE_INTEGER) ||
  Number(left.word === 'approved') - Number(right.word === 'approved')

function timeOf(value: unknown): number | null {
  const ms = Date.parse(textOf(value) ?? '')
  return Number.isNaN(ms) ? null : ms
}
