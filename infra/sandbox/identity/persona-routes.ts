import type { SandboxContext } from '../context'
import { isObject } from '../json'
import type { Applicant } from '../records'
import { type Call, param, type SandboxRoute } from '../route'
import { applicantOf } from './decide'
import { isWallet, openLink } from './link'
import { misbehaving } from './misbehaving'
import { inquiryBody } from './persona-event'

const linkLifeMs = 86_400_000

export const personaRoutes = (context: SandboxContext): SandboxRoute[] => [
  {
    method: 'GET',
    path: '/api/v1/inquiries',
    run: (request) =>
      misbehaving(context, refuse, () => {
        if (!authorized(request, context)) return refuse(401, 'Unauthorized')
        return Response.json(pageOf(context, new URL(request.url).searchParams))
      }),
  },
  {
    method: 'GET',
    path: '/api/v1/inquiries/:id',
    run: (request) =>
      misbehaving(context, refuse, () => {
        if (!authorized(request, context)) return refuse(401, 'Unauthorized')
        const inquiry = param(request, 'id')
        const applicant = context.book.find('applicants', (a) => a.providerRef === inquiry)
        return applicant ? Response.json({ data: bodyOf(applicant) }) : refuse(404, 'Record not found')
      }),
  },
  {
    method: 'POST',
    path: '/api/v1/inquiries',
    async run(request) {
      if (!authorized(request, context)) return refuse(401, 'Unauthorized')
      const wallet = referenceFrom(await request.json().catch(() => null))
      if (!isWallet(wallet)) return refuse(400, 'reference-id must be a lower-case wallet address')
      const applicant = applicantOf(context, 'persona', wallet)
      return Response.json({ data: bodyOf(applicant) }, { status: 201 })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/inquiries/:id/generate-one-time-link',
    run(request) {
      if (!authorized(request, context)) return refuse(401, 'Unauthorized')
      const inquiry = param(request, 'id')
      const applicant = context.book.find('applicants', (a) => a.providerRef === inquiry)
      if (!applicant) return refuse(404, 'Record not found')
      const url = openLink(context, 'persona', applicant.wallet, linkLifeMs)
      const meta = { 'one-time-link': url, 'one-time-link-short': url }
      return Response.json({ data: bodyOf(applicant), meta })
    },
  },
]

const authorized = (request: Call, { config }: SandboxContext): boolean =>
  request.headers.get('authorization') === `Bearer ${config.identity.secretKey}`

function referenceFrom(body: unknown): unknown {
  const data = isObject(body) ? body.data : null
  const attributes = isObject(data) ? data.attributes : null
  if (!isObject(attributes)) return null
  return attributes['reference-id'] ?? attributes.referenceId
}

const bodyOf = (applicant: Applicant) => inquiryBody(applicant, applicant.standing ?? null)

function pageOf({ book }: SandboxContext, query: URLSearchParams) {
  const reference = query.get('filter[reference-id]')
  const account = query.get('filter[account-id]')
  const statuses = query.get('filter[status]')?.split(',')
  const inquiries = book
    .all('applicants')
    .filter(({ provider, wallet }) => provider === 'persona' && (reference ?? wallet) === wallet)
    .map(bodyOf)
    .filter(({ relationships }) => (account ?? relationships.account.data.id) === relationships.account.data.id)
    .filter(({ attributes }) => statuses?.includes(attributes.status) ?? true)
    .reverse()
  const from = inquiries.findIndex(({ id }) => id === query.get('page[after]')) + 1
  const data = inquiries.slice(from, from + Number(query.get('page[size]') ?? 10))
  const isLast = from + data.length >= inquiries.length
  const following = new URLSearchParams(query)
  following.set('page[after]', data.at(-1)?.id ?? '')
  const next = isLast ? null : `/api/v1/inquiries?${following}`
  return { data, links: { prev: null, next } }
}

const refuse = (status: number, title: string): Response => Response.json({ errors: [{ title }] }, { status })
