import { describe, expect, test } from 'bun:test'
import { disputeReport, isEvidenceNews } from './dispute'

const dueAt = new Date('2026-03-15T19:50:51.724Z')
const raised = { initialMinor: 300_000n, finalMinor: undefined, dueAt } as const

describe('a dispute', () => {
  test.each([
    ['that waits for evidence is pending, with its date', 'evidence_due', {}, ['pending', 300_000n, dueAt]],
    ['that waits for evidence without a date is pending', 'evidence_due', { dueAt: null }, ['pending', 300_000n, null]],
    ['that is under review is pending, and no evidence is due', 'under_review', {}, ['pending', 300_000n, null]],
    [
      'of an inexact amount is pending for all that is left',
      'evidence_due',
      { initialMinor: null },
      ['pending', null, dueAt],
    ],
    ['that is won is dead', 'won', {}, ['dead', 300_000n, null]],
    ['that is won as a whole is dead', 'won', { finalMinor: 300_000n }, ['dead', 300_000n, null]],
    ['that is won with nothing lost is dead', 'won', { finalMinor: 0n }, ['dead', 300_000n, null]],
    ['that is won for a part stays in doubt', 'won', { finalMinor: 100_000n }, ['unknown', 300_000n, null]],
    ['that is won for an inexact amount stays in doubt', 'won', { finalMinor: null }, ['unknown', 300_000n, null]],
    ['that is lost has taken the claim', 'lost', {}, ['succeeded', 300_000n, null]],
    ['that is lost for a part has taken that part', 'lost', { finalMinor: 100_000n }, ['succeeded', 100_000n, null]],
    ['that is lost for more has taken more', 'lost', { finalMinor: 310_000n }, ['succeeded', 310_000n, null]],
    [
      'that is lost for an inexact amount has taken all that is left',
      'lost',
      { finalMinor: null },
      ['succeeded', null, null],
    ],
    ['that is lost for nothing stays in doubt', 'lost', { finalMinor: 0n }, ['unknown', 300_000n, null]],
    ['in an unrecognised status stays in doubt, with its date', 'unknown', {}, ['unknown', 300_000n, dueAt]],
  ] as const)('%s', (_, stage, change, [status, refundedMinor, evidenceDueAt]) => {
    expect(disputeReport({ ...raised, ...change, stage })).toEqual({ status, refundedMinor, evidenceDueAt })
  })
})

describe('evidence about a dispute', () => {
  const later = new Date(dueAt.getTime() + 86_400_000)
  test.each([
    ['is news if the dispute is', 'evidence_due', dueAt, undefined, true],
    ['is news without a date if the dispute is', 'evidence_due', null, undefined, true],
    ['is news in a status that we do not know', 'unknown', dueAt, undefined, true],
    ['is no news at the same date', 'evidence_due', dueAt, dueAt, false],
    ['is no news again without a date', 'evidence_due', null, null, false],
    ['is news at a later date', 'evidence_due', later, dueAt, true],
    ['is news if more is asked for after a review', 'evidence_due', dueAt, null, true],
    ['is not asked for under review', 'under_review', dueAt, undefined, false],
    ['is not asked for once the dispute is lost', 'lost', dueAt, undefined, false],
    ['is not asked for once the dispute is won', 'won', dueAt, dueAt, false],
  ] as const)('%s', (_, stage, until, before, isNews) => {
    const known = before === undefined ? [] : [{ evidenceDueAt: before }]
    expect(isEvidenceNews({ stage, dueAt: until }, known)).toBe(isNews)
  })

  test('is no news again if one of its charges has the date, whichever is read first', () => {
    const [own, other] = [{ evidenceDueAt: dueAt }, { evidenceDueAt: null }]
    for (const reports of [
      [own, other],
      [other, own],
    ])
      expect(isEvidenceNews({ stage: 'evidence_due', dueAt }, reports)).toBe(false)
    expect(isEvidenceNews({ stage: 'evidence_due', dueAt }, [other, other])).toBe(true)
  })
})
