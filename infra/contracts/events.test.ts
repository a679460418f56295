import { afterAll, expect, test } from 'bun:test'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, checkedEvents } from '#test/support/contract-actions'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture({ holdSeconds: 1_000 })
const { act } = actionsOn(fixture)
afterAll(fixture.close)

test('events are numbered without a gap, and each account counts its own at every block', async () => {
  const { admin, ana, budi, citra } = actors
  const everyone = [ana, budi, citra].map(({ address }) => address)
  const noted: bigint[] = [await fixture.client.getBlockNumber()]
  const note = async () => noted.push(await fixture.client.getBlockNumber())
  await act('topUp', 1, ausd('100'))
  await act('topUp', 2, ausd('50'), true)
  await fixture.warp(500)
  await act('extendHold', 2)
  await note()
  await act('revokeTopUp', 2, ausd('20'))
  await act('draw', ausd('40'))
  await act('repay', ausd('5'))
  await act('repayFromCollateral', ausd('5'))
  await note()
  await fixture.warp(120)
  await act('repayFor', 3, ausd('35'))
  await act('draw', ausd('10'))
  await fixture.warp(5)
  await act('revokeRepayment', 3, ausd('10'))
  await act('topUp', 4, ausd('5'), false, 'budi')
  await act('setFrozen', true, 'budi')
  await note()
  await act('addYield', ausd('1'))
  await fixture.send('admin', 'creditLine', 'fundLiquidity', [ausd('7')])
  await fixture.send('admin', 'creditLine', 'withdrawLiquidity', [ausd('3'), admin.address])
  await act('pause')
  await fixture.warp(10)
  await act('unpause')
  await act('withdraw', ausd('1'))
  await note()
  await act('topUp', 1, ausd('100'))
  const unknown = { kind: 9, ref: refOf(9), account: admin.address, amount: 1n, paidAt: 0n }
  await fixture.send('relayer', 'creditLine', 'many', [[unknown]])
  await act('setAutoRepay', ausd('1'), true)
  await fixture.warp(2_000)
  await act('autoRepay')
  await note()
  await fixture.warp(recordingSeconds + 88_300)
  await act('repayFor', 5, ausd('2'))
  await act('markDefault')
  await act('topUp', 6, ausd('5'))
  await act('revokeRepayment', 5)
  await act('seizeMore')
  await note()

  const names = new Set<string>()
  for (const block of noted) {
    for (const name of await checkedEvents(fixture, everyone, block)) names.add(name)
  }
  const numbered = creditLineAbi.filter(
    (one) => one.type === 'event' && one.inputs.some(({ name }) => name === 'sequence'),
  )
  const missing = numbered.map((one) => (one as { name: string }).name).filter((name) => !names.has(name))
  expect(missing).toEqual([])
})
