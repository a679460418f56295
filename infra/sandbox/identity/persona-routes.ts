import type { Applicant } from '../records.ts'
import { type Call, isObject, param, type Route } from '../route.ts'
import type { World } from '../world.ts'
import { isWallet, openLink } from './link.ts'
import { applicantOf } from './verdict.ts'

const linkLifeMs = 86_400_000

/** Persona's two calls that make a hosted verification link: the inquiry, then its link. */
export const personaRoutes = (world: World): Route[] => [
  {
    method: 'POST',
    path: '/api/v1/inquiries',
    async run(request) {
      if (!authorized(request, world)) return refuse(401, 'Unauthorized')
      const wallet = referenceFrom(await request.json().catch(() => null))
      if (!isWallet(wallet)) return refuse(400, 'reference-id must be a lower-case wallet address')
      const applicant = applicantOf(world, 'persona', wallet)
      return Response.json({ data: inquiryBody(applicant) }, { status: 201 })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/inquiries/:id/generate-one-time-link',
    run(request) {
      if (!authorized(request, world)) return refuse(401, 'Unauthorized')
      const inquiry = param(request, 'id')
      const applicant = world.book.find('applicants', (a) => a.providerRef === inquiry)
      if (!applicant) return refuse(404, 'Record not found')
      const url = openLink(world, 'persona', applicant.wallet, linkLifeMs)
      const meta = { 'one-time-link': url, 'one-time-link-short': url }
      return Response.json({ data: inquiryBody(applicant), meta })
    },
  },
]

const authorized = (request: Call, { config }: World): boolean =>
  request.headers.get('authorization') === `Bearer ${config.identity.secretKey}`

function referenceFrom(body: unknown): unknown {
  const data = isObject(body) ? body.data : null
  const attributes = isObject(data) ? data.attributes : null
  if (!isObject(attributes)) return null
  return attributes['reference-id'] ?? attributes.referenceId
}

const inquiryBody = ({ providerRef, wallet, updatedAt }: Applicant) => ({
  type: 'inquiry',
  id: providerRef,
  attributes: { status: 'created', 'reference-id': wallet, 'created-at': updatedAt },
})

const refuse = (status: number, title: string): Response =>
  Response.json({ errors: [{ title }] }, { status })
