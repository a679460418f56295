import { describe, expect, test } from 'bun:test'
import { type ArrivalFacts, refusalOf, type TakeFacts } from './arrival'

const nothing: ArrivalFacts = { takes: [], isOurs: false, giveback: undefined, isUsed: false }
const take = (state: TakeFacts['state'], valueMicro = 5n): Partial<ArrivalFacts> => ({
  takes: [{ payoutId: 'p1', state, valueMicro }],
})
const given = (state: TakeFacts['state'], txHash: string | null = null): Partial<ArrivalFacts> => ({
  giveback: { state, txHash },
})

describe('the decision about AUSD that reached the treasury', () => {
  test.each([
    ['and that no row explains', {}, undefined],
    ['while its take waits', take('waiting'), 'it may still be taken for cash-out p1'],
    ['while its take is sent', take('assigned'), 'it may still be taken for cash-out p1'],
    ['by a take', take('settled'), 'it was taken for cash-out p1'],
    ['by a take that had failed', take('failed'), 'it arrived late and is returned by cash-out p1'],
    [
      'by the nonce of a take for other money, while that waits',
      take('waiting', 6n),
      'it may still be taken for cash-out p1',
    ],
    ['by the nonce of a take for other money, which failed', take('failed', 6n), undefined],
    ['by a transaction of a lane', { isOurs: true }, 'it was moved by one of our own transactions'],
    ['and is ordered back', given('waiting'), 'its giveback was already ordered and is waiting'],
    ['and could not go back', given('failed'), 'its giveback was already ordered and is failed'],
    ['and went back', given('settled', '0x12'), 'it was already given back in 0x12'],
    // guard: AUSD that the token shows as returned is not returned again
    [
      'and went back before the rows were put back',
      { isUsed: true },
      'it was already given back according to the token',
    ],
  ] as const)('%s', (_, facts, refusal) => {
    expect(refusalOf({ ...nothing, ...facts }, 5n)).toBe(refusal as undefined)
  })
})
