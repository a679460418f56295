import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest, ItemAnswer, ItemRequest } from '#shared/messages/activity'
import { autoRepaySources } from '#shared/messages/credit'
import {
  Address,
  Amount,
  AusdAmount,
  Authorization,
  Hash,
  TermsMissing,
  Timestamp,
  UnixSeconds,
} from '#shared/messages/fields'
import { CommandOutcome, operatorCommandFields, pauseQuestion } from '#shared/messages/operator-commands'
import { question } from '#shared/messages/topic'

/** Reads an account at the newest block. Refused: chain_unavailable. */
export const ChainAccount = question('chain.account', 'chain-relayer', ['gateway', 'payments', 'payouts'], {
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
      /** Current value of the pending shares in 10⁻⁶ AUSD. */
      pendingValue: Amount,
      pendingUntil: Type.Union([UnixSeconds, Type.Null()]),
    }),
    limit: Amount,
    drawn: Amount,
    /** Debt repaid by payments that may still be reversed, in 10⁻⁶ AUSD; it frees no collateral yet. */
    encumbered: Amount,
    encumberedUntil: Type.Union([UnixSeconds, Type.Null()]),
    available: Amount,
    balance: Type.Object({ ausd: Amount, native: Amount }),
    /**
     * The open cycle, in chain time. `dueAt` is the last second in time, `defaultsAt` the last one in which a payment
     * prevents a default.
     */
    cycle: Type.Union([
      Type.Object({
        number: Type.Integer(),
        openedAt: UnixSeconds,
        dueAt: UnixSeconds,
        defaultsAt: UnixSeconds,
      }),
      Type.Null(),
    ]),
    /**
     * Permission of the automatic repayment; null without one, or if the contract is too old for it. `taken`: AUSD of the
     * open cycle that it has repaid. `startsAt`: chain time from which the contract allows it; null without an open cycle.
     * Earlier versions do not send it.
     */
    autoRepay: Type.Optional(
      Type.Union([
        Type.Object({
          maxPerCycle: Amount,
          source: Type.Enum([...autoRepaySources]),
          taken: Amount,
          startsAt: Type.Union([UnixSeconds, Type.Null()]),
        }),
        Type.Null(),
      ]),
    ),
    /** True during a pause, whose end moves all due dates by its length. Earlier versions do not send it. */
    paused: Type.Optional(Type.Boolean()),
    blockNumber: Amount,
    blockTime: UnixSeconds,
  }),
  repeat: 'changes nothing',
})

/** Reads the contract terms, which never change. Refused: chain_unavailable. */
export const ChainTerms = question('chain.terms', 'chain-relayer', ['gateway', 'payments', 'ops'], {
  request: Type.Object({}),
  answer: Type.Object({
    chainId: Type.Integer({ description: 'The id of the chain (EIP-155).' }),
    ausd: Type.Object(
      {
        address: Address,
        decimals: Type.Integer({
          description: 'Decimals of AUSD amounts.',
        }),
        domain: Type.Object(
          {
            name: Type.String({ description: "Name in the token's EIP-712 domain." }),
            version: Type.String({ description: "Version in the token's EIP-712 domain." }),
            chainId: Type.Integer({ description: 'The id of the chain (EIP-155).' }),
            verifyingContract: Address,
          },
          { title: 'TokenDomain', description: 'EIP-712 domain for signing AUSD transfers.' },
        ),
      },
      { title: 'TokenTerms', description: 'The AUSD token and its EIP-712 domain.' },
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
          'A cycle counts once debt times seconds reaches `minDebt` times `minSeconds`. It must be ' +
          'closed within `termSeconds`. A payment within `graceSeconds` after that prevents a default.',
      },
    ),
    initialRatioBps: Amount,
    sendValidBeforeSecondsMin: Type.Integer(),
    /** Instances of the version before do not send it. */
    dripWei: Type.Optional(Amount),
    /** Gas limits of the transactions that users send themselves. */
    gasLimits: Type.Object(
      {
        draw: Amount,
        repay: Amount,
        repayWithPermit: Amount,
        repayFromCollateral: Amount,
        withdrawCollateral: Amount,
        /** Only if the contract can repay automatically. Earlier versions do not send them. */
        setAutoRepay: Type.Optional(Amount),
        approve: Type.Optional(Amount),
      },
      {
        title: 'GasLimits',
        description: 'Gas sufficient for each function, for any account.',
      },
    ),
  }),
  repeat: 'changes nothing',
})

/**
 * Reads a hold at the newest block, in chain time. `released`: the hold ended by time. `none`: nothing was ever held
 * under this ref id. Refused: chain_unavailable.
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

/** Reads the state of a ref at the newest block. `ordered`: it is not on the chain yet. Refused: chain_unavailable. */
export const ChainRef = question('chain.ref', 'chain-relayer', ['payments'], {
  request: Type.Object({ refId: Type.String() }),
  answer: Type.Object({ state: Type.Enum(['unused', 'ordered', 'used']) }),
  repeat: 'changes nothing',
})

/**
 * Reads the treasury's balance and the credit line's allowance (`drawable`) at the newest final block, in 10⁻⁶ AUSD.
 * Both include everything reported as settled before `readAt`. `ordered`: the amount that credits and repayments in
 * progress will still take. `creditMax`, `repayMax`: the most that one may move. Refused: chain_unavailable.
 */
export const ChainTreasury = question('chain.treasury', 'chain-relayer', ['payments'], {
  request: Type.Object({}),
  answer: Type.Object({
    balance: Amount,
    drawable: Amount,
    ordered: Amount,
    creditMax: Amount,
    repayMax: Amount,
    blockNumber: Amount,
    readAt: Timestamp,
  }),
  repeat: 'changes nothing',
})

/**
 * Whether the token would accept it now. `free`: balance less all transfers in progress; `counted`: nonces of
 * the takes among these and of those that ended lately; `byContract`: only code of the wallet accepts the
 * signature, so it may change its mind. Refused: wallet_frozen, signature_invalid,
 * balance_too_low, nonce_used, ausd_paused, gas_budget_spent, relaying_paused, chain_unavailable.
 */
export const AuthorizationCheck = question('chain.authorization.check', 'chain-relayer', ['payouts'], {
  request: Type.Object({ authorization: Authorization }),
  answer: Type.Object({
    free: Amount,
    counted: Type.Array(Type.String()),
    byContract: Type.Optional(Type.Boolean()),
  }),
  repeat: 'changes nothing',
})

/** Checks the signature of a contract wallet (ERC-1271, EIP-191). */
export const SignatureCheck = question('chain.signature.check', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, text: Type.String(), signature: Type.String() }),
  answer: Type.Object({ valid: Type.Boolean() }),
  repeat: 'changes nothing',
})

/**
 * Relays a send exactly once. Also refused: not_verified, wallet_frozen, ausd_paused, gas_budget_spent,
 * relaying_paused.
 */
export const SendCreate = question('chain.send.create', 'chain-relayer', ['gateway'], {
  request: Type.Object({ wallet: Address, authorization: Authorization, termsMissing: TermsMissing }),
  answer: Type.Object(
    {
      sendId: Type.String({ description: 'Id of the item in the activity list.' }),
      ausd: AusdAmount,
      to: Address,
    },
    { title: 'SendResult', description: 'An accepted transfer.' },
  ),
  repeat: 'once by its key',
})

export const ChainActivity = question('chain.activity', 'chain-relayer', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

export const ChainItem = question('chain.item', 'chain-relayer', ['gateway'], {
  request: ItemRequest,
  answer: ItemAnswer,
  repeat: 'changes nothing',
})

/** Pauses relaying. While it is paused, only operations that protect money get a nonce (`goesOn` of the relayer). */
export const RelayingPause = pauseQuestion('chain.relaying.pause', 'chain-relayer')

/** Returns an unexplained AUSD deposit to its sender; `chain_relayer.giveback_request` has the outcome. */
export const GivebackOrder = question('chain.giveback.order', 'chain-relayer', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, txHash: Hash, logIndex: Type.Integer({ minimum: 0 }) }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})
