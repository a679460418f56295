import { createHmac, timingSafeEqual } from 'node:crypto'
import { jsonObject } from '#platform/schema'
import { nowMs, type SandboxContext } from '../context'
import { randomIds } from '../random'
import { type Call, param, type SandboxRoute } from '../route'
import { applicantOf, samePerson } from './decide'
import { isWallet, openLink } from './link'
import { misbehaving } from './misbehaving'
import { applicantBody, duplicatesBody } from './sumsub-event'

// Maximum difference between the request's timestamp and the clock, in either direction.
const clockSkewMaxSeconds = 60

export const sumsubRoutes = (context: SandboxContext): SandboxRoute[] => [
  {
    method: 'POST',
    path: '/resources/sdkIntegrations/levels/-/websdkLink',
    async run(request) {
      const text = await request.text()
      const wrong = signatureFault(request, text, context)
      if (wrong) return refuse(401, wrong)
      const body = jsonObject(text) ?? {}
      const { levelName, userId, ttlInSecs = 1_800 } = body
      if (levelName !== context.config.identity.level) return refuse(404, 'Level not found')
      if (!isWallet(userId)) return refuse(400, 'userId must be a lower-case wallet address')
      const lifeSeconds = Number(ttlInSecs)
      if (!(lifeSeconds > 0)) return refuse(400, 'ttlInSecs must be positive')
      applicantOf(context, 'sumsub', userId)
      return Response.json({ url: openLink(context, 'sumsub', userId, lifeSeconds * 1_000) })
    },
  },
  {
    method: 'GET',
    path: '/resources/applicants/:ref/one',
    run: lookUp(context, (request) => {
      const ref = param(request, 'ref')
      const wallet = /^-;externalUserId=(.+)$/.exec(ref)?.[1]
      const applicant = context.book.find(
        'applicants',
        (one) => one.provider === 'sumsub' && (wallet ? one.wallet === wallet : one.providerRef === ref),
      )
      const body = applicant && applicantBody(applicant, context.config.identity.level)
      return body ? Response.json(body) : refuse(404, 'Applicant not found')
    }),
  },
  {
    method: 'GET',
    path: '/resources/checks/latest',
    run: lookUp(context, (request) => {
      const query = new URL(request.url).searchParams
      const ref = query.get('applicantId')
      const applicant = context.book.find('applicants', (one) => one.provider === 'sumsub' && one.providerRef === ref)
      if (query.get('type') !== 'SIMILAR_SEARCH' || !applicant?.standing) return refuse(404, 'Check not found')
      return Response.json({ checks: [duplicatesBody(samePerson(context, applicant))] })
    }),
  },
]

const lookUp = (context: SandboxContext, answer: (request: Call) => Response) => (request: Call) =>
  misbehaving(context, refuse, () => {
    const wrong = signatureFault(request, '', context)
    return wrong ? refuse(401, wrong) : answer(request)
  })

function signatureFault(request: Call, body: string, context: SandboxContext): string | null {
  const { appToken, secretKey } = context.config.identity
  const seconds = request.headers.get('x-app-access-ts') ?? ''
  if (request.headers.get('x-app-token') !== appToken) return 'Invalid app token'
  const skewSeconds = Math.abs(nowMs(context) / 1000 - Number(seconds))
  if (!/^\d+$/.test(seconds) || skewSeconds > clockSkewMaxSeconds) return 'Request timestamp is off'
  const { pathname, search } = new URL(request.url)
  const signed = `${seconds}${request.method}${pathname}${search}${body}`
  const expected = createHmac('sha256', secretKey).update(signed).digest()
  const shown = Buffer.from(request.headers.get('x-app-access-sig') ?? '', 'hex')
  const good = shown.length === expected.length && timingSafeEqual(shown, expected)
  return good ? null : 'Request signature mismatch'
}

const refuse = (code: number, description: string): Response =>
  Response.json({ description, code, correlationId: randomIds.hex(16) }, { status: code })
