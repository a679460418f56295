import { expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { openDetailsSafe } from '../request/bank'
import { unsealWith } from './unseal'

const safe = openDetailsSafe([{ id: 'a', key: Buffer.alloc(32, 1) }])
const open = unsealWith({ safe, log: openLog('payouts', 'silent') })
const account = { accountNumber: '1234567890', accountHolderName: 'Sari Dewi' }
const sealedFor = (id: string) => ({
  id,
  bank_details: safe.seal(account, id).box,
  bank_details_key_id: 'a',
})

test('an export contains the bank account of a cash-out as the user entered it', () => {
  expect(open({ ...sealedFor('payout-1'), channel_code: 'ID_BCA' })).toEqual({
    id: 'payout-1',
    bank_details: account,
    bank_details_key_id: 'a',
    channel_code: 'ID_BCA',
  })
})

test('an export has an emptied bank account as it is stored', () => {
  const erased = { id: 'payout-1', bank_details: '', bank_details_key_id: 'erased' }
  expect(open(erased)).toEqual(erased)
})

test.each([
  ['whose key is gone', { ...sealedFor('payout-1'), bank_details_key_id: 'b' }],
  ['that belongs to another cash-out', { ...sealedFor('payout-2'), id: 'payout-1' }],
])('an export shows a bank account %s as sealed', (_, values) => {
  expect(open(values)).toEqual({ ...values, bank_details: 'sealed' })
})

test('an export shows a bank account that outlives an erasure for the law as sealed', () => {
  const kept = { ...sealedFor('payout-1'), account_mark: null }
  expect(open(kept)).toEqual({ ...kept, bank_details: 'sealed' })
})
