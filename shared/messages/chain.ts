import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { Address, Amount, Authorization, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'

/** A wallet as the contract has it, at the newest block. Refused: chain_unavailable. */
export const ChainAccount = question('chain.account', 'chain-relayer', ['gateway', 'payments'], {
  request: Type.Object({ wallet: Address }),
  answer: Type.Object({
    wallet: Address,
    verified: Type.Boolean(),
    defaulted: Type.Boolean(),
    frozen: Type.Boolean(),
    score: Amount,
    ratioBps: Amount,
    cycles: Type.Integer(),
    collateral: Type.Object({
      value: Amount,
      shares: Amount,
      pendingShares: Amount,
      pendingUntil: Type.Union([UnixSeconds, Type.Null()]),
    }),
    limit: Amount,
    drawn: Amount,
    /** Debt repaid by money that may still be taken back; it frees nothing until then. */
    encumbered: Amount,
    encumberedUntil: Type.Union([UnixSeconds, Type.Null()]),
    /** What a draw would be given now. */
    available: Amount,
    balance: Type.Object({ ausd: Amount, native: Amount }),
    blockNumber: Amount,
  }),
  repeat: 'changes nothing',
})

/**
 * The hold of a payment at the newest block: of a held top-up, or a held repayment. `released`: it
 * ended by time, and what was held is the wallet's for good. `none`: nothing was ever held under
 * this ref id. `until` and `blockTime` are the chain's clock. Refused: chain_unavailable.
 */
export const ChainHold = question('chain.hold', 'chain-relayer', ['payments'], {
  request: Type.Object({ refId: Type.String() }),
  answer: Type.Object({
    state: Type.Enum(['none', 'held', 'released', 'revoked']),
    until: Type.Union([UnixSeconds, Type.Null()]),
    blockTime: UnixSeconds,
  }),
  repeat: 'changes nothing',
})

/**
 * What the treasury holds at the newest final block, and what the credit line may take of it: both in
 * 10⁻⁶ AUSD. Every credit, repayment and return that was reported settled before `readAt` is in it.
 * `ordered` is what credits and repayments under way will still take. Read every few seconds at most.
 * Refused: chain_unavailable.
 */
export const ChainTreasury = question('chain.treasury', 'chain-relayer', ['payments'], {
  request: Type.Object({}),
  answer: Type.Object({
    balance: Amount,
    drawable: Amount,
    ordered: Amount,
    blockNumber: Amount,
    readAt: Timestamp,
  }),
  repeat: 'changes nothing',
})

/**
 * Would the token accept this authorization now? Checks signature (ECDSA, then ERC-1271), balance
 * and nonce, that the wallet is not frozen on the credit line, and what its reverts burnt today.
 * Refused: wallet_frozen, signature_invalid, balance_too_low, nonce_used, gas_budget_spent,
 * chain_unavailable.
 */
export const AuthorizationCheck = question(
  'chain.authorization.check',
  'chain-relayer',
  ['payouts'],
  {
    request: Type.Object({ authorization: Authorization }),
    answer: Type.Object({}),
    repeat: 'changes nothing',
  },
)

/** ERC-1271: does the contract wallet accept this signature of the text (EIP-191)? */
export const SignatureCheck = question('chain.signature.check', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, text: Type.String(), signature: Type.String() }),
  answer: Type.Object({ valid: Type.Boolean() }),
  repeat: 'changes nothing',
})

/** Relays a signed transfer, once. Refused also: not_verified, wallet_frozen, gas_budget_spent. */
export const SendCreate = question('chain.send.create', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, authorization: Authorization }),
  answer: Type.Object({ sendId: Type.String(), ausd: Amount, to: Address }),
  repeat: 'once by its key',
})

export const ChainActivity = question('chain.activity', 'chain-relayer', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})
