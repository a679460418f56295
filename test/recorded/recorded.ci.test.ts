import { afterAll, describe } from 'bun:test'
import { closeRecorded } from './fixture'

afterAll(closeRecorded)

describe('bodies', async () => {
  await import('./payments.suite')
})
describe('families', async () => {
  await import('./payment-families.suite')
})
