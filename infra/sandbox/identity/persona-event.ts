import { createHash } from 'node:crypto'
import { newId } from '../ids'
import { randomIds } from '../random'
import type { Applicant, VendorVerdict } from '../records'
import { personal } from './personal'
import type { Verdict } from './verdict'

const statuses = new Map<string, { name: string; status: string }>([
  ['approved', { name: 'inquiry.approved', status: 'approved' }],
  ['rejected', { name: 'inquiry.declined', status: 'declined' }],
  ['retry', { name: 'inquiry.marked-for-review', status: 'needs_review' }],
  // The user has answered everything, and nothing is decided.
  ['pending', { name: 'inquiry.completed', status: 'completed' }],
])

/** Returns the account id, one per person, as after a consolidation. */
const accountId = ({ wallet, person }: Pick<Applicant, 'wallet' | 'person'>): string =>
  `act_${createHash('sha256')
    .update(person ?? wallet)
    .digest('hex')
    .slice(0, 24)}`

/** Returns the inquiry. It contains personal data, like every real response. */
export function inquiryBody({ providerRef, wallet, updatedAt, person }: Applicant, standing: VendorVerdict | null) {
  const { verdict, at = updatedAt, level } = standing ?? {}
  const { status = 'created' } = statuses.get(verdict ?? '') ?? {}
  return {
    type: 'inquiry',
    id: providerRef,
    attributes: {
      status,
      'reference-id': wallet,
      note: null,
      'name-first': personal.firstName,
      'name-last': personal.lastName,
      birthdate: personal.birthdate,
      'identification-number': personal.documentNumber,
      'created-at': at,
      'updated-at': at,
      'completed-at': status === 'created' ? null : at,
      'decisioned-at': status === 'approved' || status === 'declined' ? at : null,
      'redacted-at': null,
      fields: { 'name-first': { type: 'string', value: personal.firstName } },
    },
    relationships: {
      account: { data: { type: 'account', id: accountId({ wallet, person }) } },
      template: { data: null },
      'inquiry-template': { data: level ? { type: 'inquiry-template', id: level } : null },
    },
  }
}

export function personaEvent(
  applicant: Applicant,
  verdict: Verdict,
  atMs: number,
  template: string,
): { event: string; body: string } | null {
  const words = statuses.get(verdict)
  if (!words) return null
  const at = new Date(atMs).toISOString()
  const inquiry = inquiryBody(applicant, { verdict, level: template, at })
  const attributes = { name: words.name, 'created-at': at, payload: { data: inquiry } }
  const data = { type: 'event', id: newId({ ids: randomIds }, 'personaEvent'), attributes }
  return { event: words.name, body: JSON.stringify({ data }) }
}
