import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest } from '#shared/messages/activity'
import { DeedOutcome, deedFields, pauseQuestion } from '#shared/messages/deeds'
import {
  Address,
  Amount,
  AusdAmount,
  Authorization,
  Hash,
  Timestamp,
  UnixSeconds,
} from '#shared/messages/fields'
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
      /** What those are worth now, in 10⁻⁶ AUSD; a relayer of before does not say it. */
      pendingValue: Type.Optional(Amount),
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
 * Where the contracts are, and what the credit line holds people to. Fixed for good, but for the node's
 * own address, which is nobody's business. Refused: chain_unavailable.
 */
export const ChainTerms = question('chain.terms', 'chain-relayer', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    chainId: Type.Integer({ description: 'The id of the chain (EIP-155).' }),
    ausd: Type.Object(
      {
        address: Address,
        decimals: Type.Integer({
          description: 'Amounts of AUSD are in units of 10 to minus this.',
        }),
        domain: Type.Object(
          {
            name: Type.String({ description: 'The name that the token signs by.' }),
            version: Type.String({ description: 'Of its domain, as the token answers it.' }),
            chainId: Type.Integer({ description: 'The id of the chain (EIP-155).' }),
            verifyingContract: Address,
          },
          { title: 'TokenDomain', description: 'What transfers of AUSD are signed for (EIP-712).' },
        ),
      },
      { title: 'TokenTerms', description: 'The token, and what its transfers are signed for.' },
    ),
    creditLine: Address,
    treasury: Address,
    holdSeconds: Type.Integer(),
    cycle: Type.Object(
      {
        minSeconds: Type.Integer(),
        minDebt: AusdAmount,
        termSeconds: Type.Integer(),
        graceSeconds: Type.Integer(),
      },
      {
        title: 'CycleTerms',
        description:
          'A cycle counts when its debt times its seconds reaches `minDebt` times `minSeconds`. It is ' +
          'to be closed within `termSeconds`, and ends in default after `graceSeconds` more.',
      },
    ),
    initialRatioBps: Amount,
    sendValidBeforeSecondsMin: Type.Integer(),
    /** For what users send themselves, by function of the credit line. */
    gasLimits: Type.Object(
      {
        draw: Amount,
        repay: Amount,
        repayWithPermit: Amount,
        repayFromCollateral: Amount,
        withdrawCollateral: Amount,
      },
      {
        title: 'GasLimits',
        description: 'Gas that covers each function, whatever the history of the account.',
      },
    ),
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
 * Whether anything was ever put on the chain under a ref id, at the newest block, or is on its way
 * there. Refused: chain_unavailable.
 */
export const ChainRef = question('chain.ref', 'chain-relayer', ['payments'], {
  request: Type.Object({ refId: Type.String() }),
  answer: Type.Object({ state: Type.Enum(['unused', 'ordered', 'used']) }),
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
 * relaying_paused, chain_unavailable.
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

/** Relays a signed transfer, once. Refused also: not_verified, wallet_frozen, gas_budget_spent, relaying_paused. */
export const SendCreate = question('chain.send.create', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, authorization: Authorization }),
  answer: Type.Object(
    {
      sendId: Type.String({ description: 'The id of the item in the activity.' }),
      ausd: AusdAmount,
      to: Address,
    },
    { title: 'SendResult', description: 'A transfer that is on its way.' },
  ),
  repeat: 'once by its key',
})

export const ChainActivity = question('chain.activity', 'chain-relayer', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

/**
 * While it is paused, only what protects money gets a nonce (`goesOn` of the relayer), and sends and
 * cash-outs are refused.
 */
export const RelayingPause = pauseQuestion('chain.relaying.pause', 'chain-relayer')

/**
 * Gives AUSD that came to the treasury and that nothing of ours explains back to its sender. It is
 * taken down, and decided within seconds: `chain_relayer.giveback_request` says what came of it.
 */
export const GivebackOrder = question('chain.giveback.order', 'chain-relayer', ['ops'], {
  request: Type.Object({ ...deedFields, txHash: Hash, logIndex: Type.Integer({ minimum: 0 }) }),
  answer: DeedOutcome,
  repeat: 'once by its key',
})
