import { describe, expect, test } from 'bun:test'
import { afterSend, verdictOnSend } from './verdicts'

describe("a node's answer to a raw transaction", () => {
  test.each([
    [null, 'sent'],
    ['already known', 'sent'],
    ['transaction already imported', 'sent'],
    ['Transaction nonce too low', 'sent'],
    ['nonce too low: next nonce 5, tx nonce 4', 'sent'],
    ['A newer transaction had higher priority', 'sent'],
    ['An existing transaction had higher priority', 'underpriced'],
    ['Transaction fee too low', 'underpriced'],
    ['replacement transaction underpriced', 'underpriced'],
    ['max fee per gas less than block base fee', 'underpriced'],
    ['Signer had insufficient balance', 'unfunded'],
    ['insufficient funds for gas * price + value', 'unfunded'],
    ['Insufficient funds for gas * price + value', 'unfunded'],
    ['Gas limit too low', 'gas_too_low'],
    ['intrinsic gas too low', 'gas_too_low'],
    ['exceeds block gas limit', 'refused'],
    ['invalid chain id for signer', 'refused'],
    ['Transaction pool is full', 'unknown'],
    ['Transaction pool is not ready', 'unknown'],
    ['overloaded, try again later', 'unknown'],
    ['rejected', 'unknown'],
    ['rpc no longer tracking tx', 'unknown'],
    ['The request took too long to respond.', 'unknown'],
    ['fetch failed', 'unknown'],
    ['', 'unknown'],
    ['constructor', 'unknown'],
  ] as const)('%p is read as %s', (answer, verdict) => {
    expect(verdictOnSend(answer)).toBe(verdict)
  })

  test('never leads to another nonce, whatever it is', () => {
    const next = Object.values(afterSend).map((one) => one.next)
    expect(new Set(next)).toEqual(new Set(['await', 'bump', 'raise_gas', 'send_soon']))
  })

  test('calls a person exactly when waiting alone will not help', () => {
    const alarming = Object.entries(afterSend).flatMap(([verdict, { alarm }]) =>
      alarm ? [verdict] : [],
    )
    expect(alarming.sort()).toEqual(['gas_too_low', 'refused', 'unfunded'])
  })
})
