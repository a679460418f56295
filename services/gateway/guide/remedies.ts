import type { ErrorCode } from '#shared/refusals'

/** What an app does about each no; a code without words here does not compile. */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  bad_request:
    'The message names the field and what it must be. Mend the request; the same one is refused again.',
  sign_in_again:
    'Sign a new session and send the request again: nothing was done. If it stays, look at the clock of ' +
    'the device, at the lower case of the wallet in the signed text, and at `until`, 7 days ahead at most. ' +
    'On webhooks nobody signs in: there it means that the `x-callback-token`, or the signature of the ' +
    'delivery, is missing or wrong.',
  forbidden: 'The message says why. Another session does not mend it.',
  not_found: 'No such route. Look at the path and at GET or POST.',
  too_large:
    'Bodies have 64 KiB at most, and none here comes near that. Above 1 MiB the server answers 413 by ' +
    'itself, without a body or a code.',
  too_many_requests: 'Wait as long as `Retry-After` says, then send the same request again.',
  internal:
    'A fault of ours, and logged: whether it was done is unknown. The same request again is safe. If it ' +
    'stays, tell support the `x-request-id` of the answer.',
  unavailable:
    'Something did not answer in time: whether it was done is unknown. Send the very same request again, ' +
    'with the same quote and the same signature, after `Retry-After`; it is done once.',

  quote_unknown: 'Ask for a new quote. An id of another environment is unknown here too.',
  quote_expired: 'Ask for a new quote, show its rate, and let the person agree again.',
  quote_used:
    'This quote belongs to an earlier request with another body, or of another wallet. For a new one, ask ' +
    'for a new quote. A repeat of the same body gets the first answer, and never this.',
  quote_not_idr: 'Banks are paid in rupiah alone: ask for a `USD/IDR` quote.',
  rate_unavailable: 'Try again in a moment. No rate is guessed while the market cannot be read.',

  not_verified:
    'Lead the person to the link of `POST /me/verification`; `verified` of `GET /me` tells when.',
  wallet_frozen:
    'A payment was taken back after its hold. Tell the person to top up by `bank` or `qr` until it is made ' +
    'good: its item in `GET /me/activity` says how much is missing, `frozen` of `GET /me` tells when it is done. Until then no card, draw, cash-out or send.',

  amount_below_minimum_idr: 'Ask for Rp 10,000 (`"10000"`) or more.',
  amount_below_minimum_myr: 'Ask for RM 5.00 (`"500"`, in sen) or more.',
  amount_above_maximum:
    'Split it. Look at the unit too: rupiah have no decimals, ringgit are in sen.',
  amount_above_day_limit: 'No day allows so much: offer a smaller amount.',
  topups_open_too_many: 'Let the person pay an open checkout, or wait until one has expired.',
  topups_open_too_much:
    'Let the person pay an open checkout, wait until one has expired, or ask for less.',
  day_limit_reached:
    'Offer a smaller amount, or come back after midnight UTC: `Retry-After` says when.',
  gas_budget_spent:
    'Transfers of this wallet failed too often today. Come back after `Retry-After`.',

  nothing_owed: 'There is no debt (`drawn` of `GET /me` is 0): offer no settlement.',
  settlement_on_its_way: 'An earlier checkout was paid. Wait for it in `GET /me/activity`.',
  debt_too_small: 'Repay from the wallet: `repay(amount)` on the credit line, after `approve`.',

  wallet_not_from:
    'The authorization must be signed by, and take from, the wallet that is signed in.',
  to_not_treasury: 'Sign anew, to `chain.treasury` of `GET /config`.',
  to_zero: 'Ask the person for a recipient and sign anew.',
  to_token: 'That is the token itself, and what it gets is lost. Sign anew, to a person.',
  to_credit_line:
    'A transfer does not repay. To repay, use a settlement, or `repay` on the credit line.',
  to_treasury: 'For rupiah in a bank, use `POST /cashouts`.',
  value_zero: 'Sign anew with `value` above 0.',
  valid_before_too_near: 'Sign anew with `validBefore` at least 5 minutes ahead; an hour is good.',
  valid_before_past: 'Sign anew. If that happens at once, the clock of the device is slow.',
  valid_before_soon: 'Sign anew with `validBefore` at least a minute ahead; an hour is good.',
  valid_after_not_reached:
    'Sign anew with `validAfter` a minute ago: the clock of the device may be fast.',
  payout_below_minimum:
    'Cash out more: the bank must get at least Rp 10,000 at the rate of the quote.',
  payout_below_bank_minimum:
    'Cash out more, or to another bank: `GET /config` has the limits of each.',
  payout_above_maximum: 'Cash out less, or in parts: `GET /config` has the limits of each bank.',
  payout_not_in_increment:
    'Change the amount so that the rupiah are a multiple of what this bank accepts.',
  bank_unknown: 'Take `channelCode` from the banks of `GET /config`.',
  bank_account_format: 'Let the person look at the number: its length is not that of this bank.',
  signature_invalid:
    'Sign `TransferWithAuthorization` (not `Receive…`) in the EIP-712 domain of `GET /config`, with the very ' +
    'values that are sent, as [the cash-out](cash-out.md) shows. A wallet that signs with another key than `from` gets this as well.',
  balance_too_low:
    'The wallet holds less, or what it has is already on its way: wait for what is in flight.',
  nonce_used:
    'Each transfer has 32 random bytes of its own: sign anew. If it was a repeat, it was done.',
  authorization_conflict:
    'This nonce was sent with other content: sign anew with new random bytes.',

  provider_unavailable: 'Send the same request again in a moment, with the same quote.',
  treasury_short: 'Offer a smaller amount, or let the person come back later. Nothing was charged.',
  treasury_empty: 'Later, or from the wallet with `repay` on the credit line. Nothing was charged.',
  payouts_short: 'Offer a smaller amount, or let the person come back later. Nothing was taken.',
  topups_paused:
    'Let the person come back later, with a new quote: an operator stopped what begins. What was paid already goes on.',
  cashouts_paused:
    'Let the person come back later, with a new quote and a new authorization. Nothing was taken; what was accepted before goes on.',
  relaying_paused: 'Send the same authorization again later, while it is valid. Nothing was moved.',
  chain_unavailable: 'Try again in a moment.',
  indexer_lags: 'Never answered to an app: the record comes with `history: null` instead.',
}
