import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { isNotNull } from 'drizzle-orm'
import { waitUntil } from '#test/support/wait'
import { inbox } from '../schema.store'
import { type Dependencies, startBackbone, startGateway } from '../test-support/dependencies'
import { config, webhookSecret } from '../test-support/fixture'
import { ana, walletOf } from '../test-support/wallets'
import { openUsers } from '../users/user.store'
import { openVerification } from './run'
import { type IdentityFacts, verificationOf } from './verification'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 7, minute))
const nothing: IdentityFacts = {
  state: null,
  decidedAt: null,
  flagFailedAt: null,
  linkedAt: null,
  progress: null,
  progressedAt: null,
}
const linked = (minute: number) => ({ linkedAt: at(minute) })
const said = (state: IdentityFacts['state']) => ({ state, decidedAt: at(10) })
const submitted = (minute: number) => ({ progress: 'submitted', progressedAt: at(minute) }) as const
const unfinished = (minute: number) => ({ progress: 'unfinished', progressedAt: at(minute) }) as const

describe('the verification status of a user', () => {
  test.each<[string, Partial<IdentityFacts>, string, string | null]>([
    ['who never began', {}, 'none', 'verify'],
    ['with a link', linked(1), 'started', 'verify'],
    ['who began at the provider', unfinished(1), 'started', 'verify'],
    ['who handed everything in', { ...linked(1), ...submitted(2) }, 'in_review', 'wait'],
    ['asked to continue', { ...linked(1), ...unfinished(3) }, 'started', 'verify'],
    ['who took another link during the review', { ...submitted(2), ...linked(3) }, 'in_review', 'wait'],
    ['approved', said('verified'), 'approved', 'wait'],
    ['approved, in an older review too', { ...said('verified'), ...submitted(20) }, 'approved', 'wait'],
    ['approved, given up by the relayer', { ...said('verified'), flagFailedAt: at(11) }, 'approved', 'contact support'],
    ['to try again', { ...said('resubmit'), ...linked(1), ...submitted(2) }, 'rejected', 'verify'],
    ['trying again', { ...said('resubmit'), ...linked(11) }, 'started', 'verify'],
    ['who tried again', { ...said('resubmit'), ...submitted(12) }, 'in_review', 'wait'],
    ['refused for good', { ...said('rejected'), ...submitted(2) }, 'rejected', 'contact support'],
    ['refused, with a new link', { ...said('rejected'), ...linked(11) }, 'rejected', 'contact support'],
    ['with another wallet', said('duplicate'), 'rejected', 'contact support'],
    ['withdrawn by an operator', said('withdrawn'), 'rejected', 'contact support'],
    ['with another wallet, approved again', { ...said('duplicate'), ...submitted(12) }, 'in_review', 'wait'],
    ['refused, looked at again', { ...said('rejected'), ...submitted(12) }, 'in_review', 'wait'],
    ['whose approval was taken back', { ...said('reset'), ...linked(1) }, 'none', 'verify'],
    ['starting again after that', { ...said('reset'), ...linked(11) }, 'started', 'verify'],
  ])('%s', (_, known, status, nextAction) => {
    expect(verificationOf({ ...nothing, ...known }, false)).toMatchObject({ status, nextAction })
  })

  test.each<[string, IdentityFacts | null]>([
    ['with a verdict of ours', { ...nothing, ...said('verified') }],
    ['approved elsewhere', nothing],
    ['without any record', null],
  ])('is complete once the flag is on the chain: a user %s', (_, known) => {
    expect(verificationOf(known, true)).toMatchObject({ status: 'approved', nextAction: null })
  })
})

describe('the verification status during webhooks of the provider', () => {
  let backbone: Dependencies
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const wallet = walletOf(ana)
  beforeAll(async () => {
    backbone = await startBackbone()
    gateway = await startGateway(backbone)
  })
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await backbone?.[Symbol.asyncDispose]()
  })

  const tell = async (minute: number, event: object) => {
    const body = JSON.stringify({
      applicantId: 'applicant',
      correlationId: `${minute}`,
      externalUserId: wallet,
      levelName: config.identityLevel,
      sandboxMode: true,
      createdAtMs: at(minute).toISOString().replace('T', ' ').replace('Z', ''),
      ...event,
    })
    const answer = await fetch(`${gateway.url}/webhooks/identity`, {
      method: 'POST',
      body,
      headers: {
        'x-payload-digest': createHmac('sha256', webhookSecret).update(body).digest('hex'),
        'x-payload-digest-alg': 'HMAC_SHA256_HEX',
      },
    })
    expect(await answer.json()).toEqual({ status: 'recorded' })
  }
  const becomes = (status: string) =>
    waitUntil(`being ${status}`, async () => {
      const user = await openUsers(backbone.database).find(wallet)
      return verificationOf(user!.known, false).status === status
    })
  const reviewed = (reviewResult: object) => ({
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    reviewResult,
  })

  test('goes from a link over a rejection to an approval', async () => {
    const { database } = backbone
    await openUsers(database).insert(wallet)
    await becomes('none')
    const provider = { name: 'sumsub' } as Parameters<typeof openVerification>[0]['provider']
    const clock = () => at(1).getTime()
    await openVerification({ config, clock, database, provider }).recordLink(wallet, null)
    await becomes('started')
    await tell(3, { type: 'applicantPending', reviewStatus: 'pending' })
    await becomes('in_review')
    await tell(5, reviewed({ reviewAnswer: 'RED', reviewRejectType: 'RETRY' }))
    await becomes('rejected')
    await tell(7, { type: 'applicantPending', reviewStatus: 'pending' })
    await becomes('in_review')
    await tell(8, { type: 'applicantAwaitingUser', reviewStatus: 'awaitingUser' })
    await becomes('started')
    // Both events are ignored: one is of another level, the other is older than the status.
    await tell(9, { type: 'applicantPending', levelName: 'another' })
    await tell(6, { type: 'applicantOnHold', reviewStatus: 'onHold' })
    await tell(11, reviewed({ reviewAnswer: 'GREEN' }))
    await becomes('approved')
    await waitUntil('every delivery being handled', async () => {
      const done = database.read((db) => db.$count(inbox, isNotNull(inbox.doneAt)))
      return (await done) === 7
    })
    const known = (await openUsers(database).find(wallet))!.known
    expect([known.progress, known.progressedAt]).toEqual(['unfinished', at(8)])
  })
})
