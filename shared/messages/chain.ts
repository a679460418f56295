import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { Address, Amount, Authorization, UnixSeconds } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'

/** A wallet as the contract has it, at the newest block. Refused: chain_unavailable. */
export const ChainAccount = question(
  'chain.account',
  'chain-relayer',
  ['gateway', 'payments', 'payouts'],
  {
    request: Type.Object({ wallet: Address }),
    answer: Type.Object({
      wallet: Address,
      verified: Type.Boolean(),
      defaulted: Type.Boolean(),
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
      balance: Type.Object({ ausd: Amount, native: Amount }),
      blockNumber: Amount,
    }),
  },
)

/**
 * Would the token accept this authorization now? Checks signature (ECDSA, then ERC-1271), balance
 * and nonce. Refused: signature_invalid, balance_too_low, nonce_used, chain_unavailable.
 */
export const AuthorizationCheck = question(
  'chain.authorization.check',
  'chain-relayer',
  ['payouts'],
  {
    request: Type.Object({ authorization: Authorization }),
    answer: Type.Object({}),
  },
)

/** ERC-1271: does the contract wallet accept this signature of the text (EIP-191)? */
export const SignatureCheck = question('chain.signature.check', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, text: Type.String(), signature: Type.String() }),
  answer: Type.Object({ valid: Type.Boolean() }),
})

/** Relays a signed transfer, once. */
export const SendCreate = question('chain.send.create', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, authorization: Authorization }),
  answer: Type.Object({ sendId: Type.String(), ausd: Amount, to: Address }),
})

export const ChainActivity = question('chain.activity', 'chain-relayer', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
})
