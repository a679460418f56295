import { type Finding, type IdentityProvider, ProviderDown, type Statement } from '../../provider'
import { getFromProvider, hostedLink, postToProvider, textOf } from '../http'
import { at, keptOf, parsePersona, templateOf, verifyPersona } from './webhook'

/** `webhookSecrets` in any order: all are tried. */
export type PersonaOptions = {
  apiUrl: string
  /** Keys of the live environment begin with `persona_production_`, those of the sandbox do not. */
  apiKey: string
  webhookSecrets: readonly string[]
  templateId: string
}

/** Pinned, so that a change of the account's default changes nothing here. */
const version = '2025-12-08'
const pageSize = 20
/** So many decided inquiries about one person are nobody's history. */
const pagesMax = 10

/** Persona behind the port. */
export function persona(options: PersonaOptions): IdentityProvider {
  const sandbox = !options.apiKey.startsWith('persona_production_')
  const headers = {
    Authorization: `Bearer ${options.apiKey}`,
    'Persona-Version': version,
    'Key-Inflection': 'kebab',
  }
  const inquiries = `${options.apiUrl}/api/v1/inquiries`
  const post = (path: string, body: string) => postToProvider(`${inquiries}${path}`, headers, body)
  const pageOf = async (wallet: string, after: string | undefined) => {
    const query = queryOf(wallet, after)
    const { status, body } = await getFromProvider(`${inquiries}?${query}`, headers)
    // A list that is not there says nothing of the person: an empty one would.
    if (status !== 200) throw new ProviderDown(`the identity provider answered ${status}`)
    const page = readInquiries(body, wallet)
    if ('fault' in page) throw new ProviderDown(`persona: ${page.fault}`)
    return page
  }
  return {
    name: 'persona',
    verify: (body, received, nowMs) => verifyPersona(body, received, options.webhookSecrets, nowMs),
    parse: (body) => parsePersona(body, sandbox),
    kept: keptOf,
    async createLink(wallet) {
      const attributes = { 'inquiry-template-id': options.templateId, 'reference-id': wallet }
      const inquiry = await post('', JSON.stringify({ data: { attributes } }))
      const id = (inquiry.data as { id?: unknown } | undefined)?.id
      if (typeof id !== 'string' || !/^inq_[A-Za-z0-9]{1,64}$/.test(id))
        throw new ProviderDown('the identity provider answered without an inquiry')
      const link = await post(`/${id}/generate-one-time-link`, '{}')
      return hostedLink((link.meta as Record<string, unknown> | undefined)?.['one-time-link'])
    },
    async lookUp(wallet): Promise<Finding> {
      const all: Decided[] = []
      for (let page = 1, after: string | undefined; page <= pagesMax; page++) {
        const { inquiries: read, hasMore } = await pageOf(wallet, after)
        all.push(...read)
        after = read.at(-1)?.id
        if (!after || !(hasMore || read.length >= pageSize))
          return findingOf(all, { wallet, templateId: options.templateId, sandbox })
      }
      throw new ProviderDown('persona: more inquiries than can be read')
    },
  }
}

/**
 * Only decided inquiries: everybody who asks for a link makes an open one, and however many of
 * those there are, they must not hide a verdict.
 */
function queryOf(wallet: string, after: string | undefined): URLSearchParams {
  return new URLSearchParams({
    'filter[reference-id]': wallet,
    'filter[status]': 'approved,declined',
    'page[size]': String(pageSize),
    ...(after === undefined ? {} : { 'page[after]': after }),
  })
}

/** All that is read of an inquiry; what else the answer says of the person is dropped here. */
type Decided = {
  readonly id: string
  readonly status: string | null
  readonly templateId: string | null
  /** Unix ms; null where the provider names no time. */
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly decidedAtMs: number | null
}
/** Whose answer is read: `sandbox` is what our own key says. */
type Asked = {
  readonly wallet: string
  readonly templateId: string
  readonly sandbox: boolean
}

/**
 * Reads one page of "List all Inquiries" (docs.withpersona.com); a fault when it is no list, or
 * speaks of other people: then the filter was not understood, and nothing follows from it.
 */
function readInquiries(
  answer: unknown,
  wallet: string,
): { inquiries: Decided[]; hasMore: boolean } | { fault: string } {
  const rows = at(answer, 'data')
  if (!Array.isArray(rows)) return { fault: 'the answer has no list of inquiries' }
  const inquiries: Decided[] = []
  for (const row of rows) {
    const attributes = at(row, 'attributes')
    const id = textOf(at(row, 'id'))
    if (!id) return { fault: 'an inquiry without an id' }
    if (textOf(at(attributes, 'reference-id')) !== wallet)
      return { fault: 'an inquiry under another reference than was asked for' }
    inquiries.push({
      id,
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
 * The newest verdict among a person's inquiries: whoever was declined may have been approved in
 * another one since, and the other way round. A redacted inquiry keeps its status and its times, so
 * forgetting a person's data takes no verdict back.
 */
function findingOf(inquiries: readonly Decided[], asked: Asked): Finding {
  if (inquiries.length === 0) return { nobody: true }
  const verdicts = inquiries.flatMap((inquiry) => verdictIn(inquiry, asked))
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

type Verdict = { inquiry: Decided; word: Statement['word']; atMs: number | null }

/**
 * What an inquiry says, if it says anything of our template. Of a time that is missing or known to
 * the second, the reading against the person: an approval as early, a refusal as late as may be.
 */
function verdictIn(inquiry: Decided, { templateId }: Asked): Verdict[] {
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

/** What has no time at all comes first: it is a refusal, and nothing says that it is over. */
const newestFirst = (left: Verdict, right: Verdict): number =>
  (right.atMs ?? Number.MAX_SAFE_INTEGER) - (left.atMs ?? Number.MAX_SAFE_INTEGER) ||
  Number(left.word === 'approved') - Number(right.word === 'approved')

function timeOf(value: unknown): number | null {
  const ms = Date.parse(textOf(value) ?? '')
  return Number.isNaN(ms) ? null : ms
}
