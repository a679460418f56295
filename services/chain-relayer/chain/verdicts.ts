/**
 * What a node's answer to `eth_sendRawTransaction` means. None of them frees the nonce: even a
 * refusal may come from one node while another has the transaction.
 */
export type SendVerdict =
  | 'sent'
  | 'underpriced'
  | 'gas_too_low'
  | 'unfunded'
  | 'refused'
  | 'unknown'

/**
 * Words of Monad (code -32603 for nearly all of them), geth and anvil; codes differ between nodes
 * and versions, so only the words count. First match decides.
 * Source: monad-eth-txpool-types `as_user_string`; go-ethereum core/txpool/errors.go.
 */
const words: readonly (readonly [RegExp, SendVerdict])[] = [
  [/already (known|imported|exists)|known transaction|transaction already/i, 'sent'],
  // The nonce is taken, most likely by one of our own attempts; finality will tell.
  [/nonce (is )?too low|old nonce|newer transaction had higher priority/i, 'sent'],
  [
    /fee too low|underpriced|gas price too low|existing transaction had higher priority/i,
    'underpriced',
  ],
  [/less than (the )?block base fee|fee ?cap|max fee per gas (is )?(too low|less)/i, 'underpriced'],
  [/insufficient (funds|balance)|signer had insufficient|out of funds/i, 'unfunded'],
  [/gas limit too low|intrinsic gas too low/i, 'gas_too_low'],
  [/exceeds (the )?(block )?gas limit|gas limit too high|chain ?id|invalid sender/i, 'refused'],
  [/oversized|malformed|could not decode|failed to decode|rlp:/i, 'refused'],
]

/** Reads an error text; a text nobody foresaw means that the transaction may have been sent. */
export const verdictOnSend = (errorText: string | null): SendVerdict =>
  errorText === null ? 'sent' : (words.find(([form]) => form.test(errorText))?.[1] ?? 'unknown')

/** What to do next at the same nonce, and whether a person has to know. */
export const afterSend: {
  readonly [V in SendVerdict]: {
    next: 'await' | 'send_soon' | 'bump' | 'raise_gas'
    alarm: boolean
  }
} = {
  sent: { next: 'await', alarm: false },
  underpriced: { next: 'bump', alarm: false },
  gas_too_low: { next: 'raise_gas', alarm: true },
  unfunded: { next: 'await', alarm: true },
  refused: { next: 'await', alarm: true },
  unknown: { next: 'send_soon', alarm: false },
}
