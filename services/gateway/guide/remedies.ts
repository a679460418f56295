import type { ErrorCode } from '#shared/refusals'

/** Next step of an app for each error code, in Markdown. */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  bad_request:
    'The message names the field and the expected form. Fix the request; resending it unchanged will ' + 'fail again.',
  sign_in_again:
    'Sign a new session and retry; nothing was processed. If it happens again, check the device clock, ' +
    'that the signed text has the wallet in lower case, and that `until` is at most 7 days ahead. On ' +
    'webhooks, the `x-callback-token` or the signature of the delivery is missing or wrong.',
  forbidden: 'The message gives the reason. A new session does not help.',
  not_found: 'No such route, or the wallet has no item with this id. Check path, method and wallet.',
  too_large:
    'The limits are 64 KiB and 1,024 chunks, far above any valid body. Bodies over 1 MiB get a 413 without a body or a code.',
  unsupported_encoding: 'Send the body without compression.',
  too_many_requests: 'Wait for `Retry-After` seconds, then send the same request again.',
  internal:
    'Internal error (logged). The request may or may not have been processed; retrying it is safe. If it ' +
    'persists, send the `x-request-id` of the response to support.',
  unavailable:
    'A dependency did not respond in time; the request may or may not have been processed. Retry the ' +
    'identical request (same quote, same signature) after `Retry-After`; it is idempotent.',

  quote_unknown: 'Request a new quote. Quotes of other environments are unknown here too.',
  quote_expired: 'Request a new quote, show its rate, and let the user confirm again.',
  quote_used:
    'An earlier request with another body, or from another wallet, used this quote. For a new order, ' +
    'request a new quote. A retry with the same body gets the first response, never this error.',
  quote_not_idr: 'Cash-outs are paid in rupiah only: request a `USD/IDR` quote.',
  cashout_rate_unavailable:
    'Offer the cash-out again on the next banking day, or a smaller one: `cashouts.marketClosed` in `GET /config` limits ' +
    'cash-outs until then. Ask for the quote of a cash-out with `use: pay_out`, so that this comes before the user signs.',
  quote_for_cashouts: 'Get a quote without `use: pay_out` for a top-up or a settlement.',
  rate_unavailable: 'Try again in a moment. No rate is offered while market data is unavailable.',

  not_verified:
    'Send the user to the URL returned by `POST /me/verification`. `verified` in `GET /me` becomes true ' +
    'once verification is complete.',
  terms_not_accepted:
    'Show the page `terms.url` of `GET /config`. Once the user accepts it, send the header `Accepted-Terms` with ' +
    '`terms.version` on the next signed request; the acceptance is recorded, and later requests need no header. Debts can be ' +
    'repaid without it.',
  not_in_pilot:
    'During a pilot only invited wallets top up, verify and cash out; `invitedOnly` in `GET /config` says so. Do not offer ' +
    'these to other wallets. Settlements, repayments, withdrawals and sends are open to every wallet.',
  wallet_frozen:
    'A payment was reversed after its hold. Ask the user to top up by `bank` or `qr` until the amount is ' +
    'repaid: the item in `GET /me/activity` shows how much is owed, and `frozen` in `GET /me` becomes false ' +
    'once it is repaid. Until then cards, draws, cash-outs and sends are refused.',

  wallet_in_doubt:
    'A refund or dispute of a payment is open; its item in `GET /me/activity` says so. Nothing is owed yet, and no top-up ' +
    'ends the freeze: `frozen` in `GET /me` becomes false once the refund or dispute has failed. If it succeeds, the ' +
    'refusal becomes `wallet_frozen`.',

  amount_below_minimum_idr: 'Request at least Rp 10,000 (`"10000"`).',
  amount_below_minimum_myr: 'Request at least RM 5.00 (`"500"`, in sen).',
  amount_above_maximum: 'Split the amount. Check the unit too: rupiah have no decimals, ringgit are in sen.',
  amount_above_day_limit: 'The amount is above the daily limit. Offer a smaller amount.',
  topups_open_too_many: 'Ask the user to pay or cancel an open checkout, or wait until one expires.',
  topups_open_too_much:
    'Ask the user to pay or cancel an open checkout, wait until one expires, or offer a smaller amount.',
  day_limit_reached:
    'Offer a smaller amount, or try again after midnight in the country of the payment (`Retry-After` has the seconds).',
  day_limit_of_all_reached:
    'Offer a smaller amount, or try again after `Retry-After`. `dayAusdMaxOfAll` in `GET /config` limits the sum of all ' +
    'wallets. A debt that is due or older than a day can still be settled.',
  topups_day_too_many:
    'Offer a top-up again after midnight in the country of the payment (`Retry-After` has the seconds). ' +
    '`topups.dayCountMax` in `GET /config` is the limit.',
  cashouts_refused_too_many:
    'Show the reasons of the refused cash-outs from `GET /me/activity`, and ask the user to check the ' +
    'account number and name. Try again after `Retry-After`.',
  account_checks_too_many:
    'Let the user cash out without a check. `cashouts.checksPerDayMax` of `GET /config` has the limit of a ' +
    'wallet; a bank account has the same one over all wallets. Both reset at midnight in Jakarta.',
  gas_budget_spent: 'The wallet has made too many transfers today. Try again after `Retry-After`.',

  verification_limit_reached:
    'Open the last link again; it resumes the same verification. New links are available after midnight in Jakarta.',
  statement_too_long:
    'Request several shorter periods, one after the other: each closes with the opening balance of the next.',
  export_limit_reached: 'Offer the last export again, or try again after `Retry-After` seconds.',
  cancellation_unconfirmed:
    'The provider has not said whether the checkout was cancelled or paid. Send the same request again; if it ' +
    'still fails, poll the item: it stays open, or shows how it ended.',
  cancellations_too_many:
    'Leave the checkout open: it closes at its `expiresAt`. `checkout.cancellationsPerDayMax` of `GET /config` ' +
    'has the limit, which resets at midnight in the country of the payment.',
  nothing_owed: 'There is no debt (`drawn` in `GET /me` is 0): do not offer a settlement.',
  settlement_on_its_way: 'An earlier checkout for this debt was paid. Wait for it in `GET /me/activity`.',
  settlements_too_many: 'Open the checkout of the last response, or try again after `Retry-After` seconds.',
  debt_too_large:
    'Have the user repay part of it from their wallet: `approve`, then `repay(amount)` on the credit line. Or ' +
    '[in local currency](settle.md#pay-a-part-in-local-currency).',
  debt_too_small: 'Have the user repay from their wallet: `approve`, then `repay(amount)` on the credit line.',

  wallet_not_from: 'The signed-in wallet must be both the `from` address and the signer of the authorization.',
  to_not_treasury: 'Sign a new authorization to `chain.treasury` from `GET /config`.',
  to_zero: 'Ask the user for a recipient and sign a new authorization.',
  to_token:
    'The recipient is the token contract; AUSD sent there is lost. Sign a new authorization to another address.',
  to_credit_line: 'A transfer does not repay debt. Use a settlement, or call `repay` on the credit line.',
  to_treasury: 'To cash out to a bank, use `POST /cashouts`.',
  to_self: 'Ask the user for another recipient and sign a new authorization.',
  value_zero: 'Sign a new authorization with `value` above 0.',
  value_below_minimum: 'Offer a larger amount: `value` must be at least `"10000"` (0.01 AUSD).',
  valid_before_too_near: 'Sign a new authorization with `validBefore` at least 5 minutes ahead; we recommend one hour.',
  valid_before_past: 'Sign a new authorization. If a fresh one fails as well, the device clock is slow.',
  valid_before_soon: 'Sign a new authorization with `validBefore` at least one minute ahead; we recommend one hour.',
  valid_after_not_reached: 'Sign a new authorization with `validAfter` `"0"`.',
  payout_below_minimum: 'Offer a larger amount: the bank must receive at least Rp 10,000 at the quoted rate.',
  payout_below_bank_minimum: 'Offer a larger amount or another bank: `GET /config` has the limits of each bank.',
  payout_above_maximum: 'Offer a smaller amount or several cash-outs: `GET /config` has the limits of each bank.',
  payout_not_in_increment:
    'Change the amount so that the rupiah are a multiple of `increment` of this bank in `GET /config`.',
  bank_unknown: 'Use a bank `code` from `cashouts.banks` of `GET /config` as `channelCode`.',
  bank_account_format: 'Ask the user to check the account number: its length is wrong for this bank.',
  bank_account_refused:
    'An operator has refused this bank account. Ask the user for another account of theirs, or send them to support; the ' +
    'same account is refused again.',
  signature_invalid:
    'Sign `TransferWithAuthorization` (not `Receive…`) in the EIP-712 domain from `GET /config`, over ' +
    'exactly the values you send, as shown for the [cash-out](cash-out.md). A signature by any key other ' +
    'than that of `from` also gets this error.',
  balance_too_low:
    'The wallet holds less than this, or part of its balance is committed to pending transfers: wait for those.',
  nonce_used: 'Use 32 fresh random bytes for each transfer and sign again. If this was a retry, the transfer was made.',
  authorization_conflict: 'This nonce was already submitted with different content: sign again with a fresh nonce.',

  provider_unavailable: 'Send the same request again in a moment, with the same quote.',
  payer_name_unavailable:
    'Where the law wants the name of a payer by virtual account, the identity provider is asked for it, and it did not answer, ' +
    'or has none. Send the same request again, or offer `card`, which needs no name.',
  treasury_short: 'Offer a smaller amount, or try again later. Nothing was charged.',
  treasury_empty: 'Try again later, or have the user call `repay` from their wallet. Nothing was charged.',
  payouts_short: 'Offer a smaller amount, or try again later. No AUSD was taken.',
  topups_paused:
    'New top-ups are paused by an operator. Try again later with a new quote. Checkouts already paid are still processed.',
  cashouts_paused:
    'New cash-outs are paused. Try again later with a new quote and a new authorization. No AUSD was taken; ' +
    'cash-outs already accepted continue.',
  ausd_paused:
    'The issuer of AUSD has paused transfers of the token. Send the same authorization again later, while it is valid. ' +
    'Nothing was transferred.',
  relaying_paused:
    'Transfers are paused. Send the same authorization again later, while it is valid. Nothing was transferred.',
  chain_unavailable: 'Try again in a moment.',
  indexer_lags: 'Only for a statement: request it again later. The public record has `history: null` instead.',
}
