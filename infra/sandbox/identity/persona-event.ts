import { newId } from '../ids.ts'
import type { Applicant } from '../records.ts'
import type { Verdict } from './verdict.ts'

const statuses = new Map<Verdict, { name: string; status: string }>([
  ['approved', { name: 'inquiry.approved', status: 'approved' }],
  ['rejected', { name: 'inquiry.declined', status: 'declined' }],
  ['retry', { name: 'inquiry.marked-for-review', status: 'needs_review' }],
  // The user is through the questions; nobody has decided anything.
  ['pending', { name: 'inquiry.completed', status: 'completed' }],
])

/** The event Persona sends for a verdict, or `null` when it knows no such verdict. */
export function personaEvent(
  applicant: Applicant,
  verdict: Verdict,
  atMs: number,
  template: string,
): { event: string; body: string } | null {
  const words = statuses.get(verdict)
  if (!words) return null
  const at = new Date(atMs).toISOString()
  const inquiry = {
    type: 'inquiry',
    id: applicant.providerRef,
    attributes: { status: words.status, 'reference-id': applicant.wallet, 'updated-at': at },
    relationships: { 'inquiry-template': { data: { type: 'inquiry-template', id: template } } },
  }
  const attributes = { name: words.name, 'created-at': at, payload: { data: inquiry } }
  const data = { type: 'event', id: newId('personaEvent'), attributes }
  return { event: words.name, body: JSON.stringify({ data }) }
}
