import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { questions } from '#shared/messages/catalogue'
import * as chain from '#shared/messages/chain'
import * as events from '#shared/messages/events'
import * as payments from '#shared/messages/payments'
import * as payouts from '#shared/messages/payouts'
import * as person from '#shared/messages/person'
import * as pricing from '#shared/messages/pricing'
import { decisions, erasures, pauses } from './operator-commands'

const text = readFileSync(join(import.meta.dir, 'copies.proof.test.ts'), 'utf8')
const body = text.slice(text.lastIndexOf('\nimport '))
const named = Object.entries({ ...chain, ...events, ...payments, ...payouts, ...person, ...pricing })
const families: readonly unknown[] = [...pauses, ...decisions.map(([, one]) => one), ...erasures.map(([, one]) => one)]

test('the proof of two instances sends every request with an effect to both at once', () => {
  const keyed = questions.filter(({ repeat }) => repeat === 'once by its key')
  const isTried = (question: unknown) =>
    families.includes(question) || named.some(([name, one]) => one === question && RegExp(`\\b${name}\\b`).test(body))
  expect(keyed.length).toBeGreaterThan(25)
  expect(keyed.filter((one) => !isTried(one)).map(({ subject }) => subject)).toEqual([])
})
