import type { Finding, Statement } from '../../identity-provider.ts'
import { at, templateOf, textOf } from './mapping.ts'

/** All that is read of an inquiry; what else the answer says of the person is dropped here. */
export type Decided = {
  readonly id: string
  readonly status: string | null
  readonly templateId: string | null
  /** Unix ms; null where the provider names no time. */
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly decidedAtMs: number | null
}
/** Whose answer is read: `sandbox` is what our own key says. */
export type Asked = {
  readonly wallet: string
  readonly templateId: string
  readonly sandbox: boolean
}

/**
 * Reads one page of "List all Inquiries" (docs.withpersona.com); a fault when it is no list, or
 * speaks of other people: then the filter was not understood, and nothing follows from it.
 */
export function readInquiries(
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
export function findingOf(inquiries: readonly Decided[], asked: Asked): Finding {
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
