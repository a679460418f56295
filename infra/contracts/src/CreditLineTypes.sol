// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Vocabulary of the credit line: its structs, events and errors
/// @notice AUSD amounts are in 10^-6 AUSD, times in unix seconds, ratios in basis points.
abstract contract CreditLineTypes {
    /// @notice Everything the constructor fixes for good.
    struct Terms {
        address token;
        address treasury;
        address admin;
        uint256 holdSeconds;
        uint256 minCycleSeconds;
        /// A cycle counts when its debt times its seconds reaches `minDebt` times `minCycleSeconds`.
        uint256 minDebt;
        uint256 termSeconds;
        /// At least a day: as far back as a relayed payment may have been made.
        uint256 graceSeconds;
        uint256 initialRatioBps;
    }

    /// @notice One account as its owner sees it at the time of the block.
    struct Account {
        bool verified;
        bool defaulted;
        /// Neither draws nor withdraws until the verifier ends it.
        bool frozen;
        uint256 score;
        uint256 ratioBps;
        /// Closed cycles, reversed ones included.
        uint256 cycles;
        /// AUSD value of the matured shares, rounded down.
        uint256 collateral;
        uint256 shares;
        uint256 pendingShares;
        /// When the last pending lot matures; 0 if none is pending.
        uint256 pendingUntil;
        /// Debt repaid by money that its payer may still take back.
        uint256 encumbered;
        /// When the last of it is free; 0 if nothing is encumbered.
        uint256 encumberedUntil;
        uint256 limit;
        uint256 drawn;
        /// What a `draw` would be given now: of the limit, and of the pool.
        uint256 available;
    }

    /// @notice One relayed operation. Kinds: 0 top-up, 1 held top-up, 2 repayFor, 3 revokeTopUp,
    /// 4 held repayFor, 5 revokeRepayment, 6 extendHold. A field that a kind has no use for is 0.
    struct Op {
        uint8 kind;
        bytes32 ref;
        address account;
        uint256 amount;
        uint64 paidAt;
    }

    /// @notice `Released` money is its account's, or was seized; both are beyond revoking.
    enum HoldState { None, Held, Released, Revoked }

    /// @notice How a cycle ended. `Reversed`: money that had counted in it was taken back.
    enum Outcome { Qualified, Short, Late, Defaulted, Reversed }

    /// @dev Stored account, by the word. `ratioBps` 0 is the initial ratio.
    struct Line {
        uint128 shares;
        uint128 pendingShares;
        uint104 drawn;
        uint104 encumbered;
        uint16 ratioBps;
        bool verified;
        bool defaulted;
        bool frozen;
        /// The open cycle. `openedAt` 0: none is open.
        uint40 openedAt;
        /// When its term ends, on the clock that stands while the contract is paused.
        uint40 dueAt;
        /// The latest time at which any of it was paid.
        uint40 paidAt;
        /// Until when `debtSeconds` is counted.
        uint40 countedAt;
        uint88 debtSeconds;
        /// A repayment that had counted in it was revoked.
        bool reversed;
        uint112 peakDrawn;
        uint112 totalRepaid;
        uint32 cyclesClosed;
        uint32 score;
        uint40 lotHead;
        uint40 lotTail;
        uint40 repaymentHead;
        uint40 repaymentTail;
        /// Position + 1 of the held repayment of the open cycle that is free last; 0: none.
        uint40 lastHeld;
    }

    event VerifiedSet(address indexed account, bool verified);
    event FrozenSet(address indexed account, bool frozen);
    /// @notice `heldUntil` is 0 if the shares count at once.
    event CollateralAdded(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 heldUntil
    );
    /// @notice A held top-up, or the held excess of a repayment, went back to the treasury.
    event TopUpRevoked(
        bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares
    );
    /// @notice `to` is this contract when the collateral repaid the account's own debt.
    event CollateralWithdrawn(
        address indexed account, address indexed to, uint256 amount, uint256 shares
    );
    event Drawn(address indexed account, address indexed to, uint256 amount, uint256 drawnAfter);
    /// @notice `ref` is 0 for repayments the account made itself.
    event Repaid(
        bytes32 indexed ref,
        address indexed account,
        address indexed payer,
        uint256 amount,
        uint256 drawnAfter
    );
    /// @notice Beside `Repaid`: the same amount stays encumbered until then.
    event RepaymentHeld(
        bytes32 indexed ref, address indexed account, uint256 amount, uint256 heldUntil
    );
    /// @notice The amount is owed again and went back to the treasury. `openedAt` is that of the
    /// cycle it is owed in, 0 if there is none because the account is defaulted.
    event RepaymentRevoked(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 drawnAfter,
        uint256 openedAt
    );
    event HoldExtended(bytes32 indexed ref, address indexed account, uint256 heldUntil);
    /// @notice `openedAt` lies in the past when the cycle goes on with a debt that came back.
    event CycleOpened(address indexed account, uint256 indexed number, uint256 openedAt);
    event CycleClosed(
        address indexed account,
        uint256 indexed number,
        uint8 outcome,
        uint256 peakDrawn,
        uint256 totalRepaid,
        uint256 scoreAfter,
        uint256 ratioBpsAfter
    );
    /// @notice A closed cycle is `Reversed` for good: `amount` of what had counted in it was revoked.
    event CycleReversed(
        address indexed account, uint256 indexed number, uint256 amount, uint256 scoreAfter
    );
    event DefaultMarked(
        address indexed account, uint256 indexed number, uint256 seized, uint256 stillOwed
    );
    /// @notice Collateral taken for a defaulted debt after `DefaultMarked`, never within it.
    event CollateralSeized(
        address indexed account, uint256 amount, uint256 shares, uint256 drawnAfter
    );
    event AlreadyApplied(bytes32 indexed ref);
    event OpFailed(uint256 indexed index, bytes32 indexed ref, bytes reason);
    event YieldAdded(address indexed payer, uint256 amount);
    event LiquidityFunded(address indexed payer, uint256 amount);
    event LiquidityWithdrawn(address indexed to, uint256 amount);

    error ZeroAddress();
    error ZeroAmount();
    error ZeroRef();
    /// @notice The amount is too small to buy a single share.
    error ZeroShares();
    error InvalidTerms();
    error InvalidRecipient(address to);
    error UnknownKind(uint8 kind);
    error RefConflict(bytes32 ref);
    error NotHeld(bytes32 ref);
    /// @notice The hold was extended by a day already, or would not end later than it does.
    error HoldNotExtendable(bytes32 ref);
    error OnlySelf();
    /// @notice `many` was sent with too little gas to give the operation at `index` a fair run.
    error GasTooLow(uint256 index);
    error NotVerified(address account);
    error AccountFrozen(address account);
    error AccountDefaulted(address account);
    error NotDefaulted(address account);
    error TermPassed(address account);
    error TermNotPassed(address account);
    error NothingOwed(address account);
    /// @notice Debt and what is encumbered would be more than the matured collateral carries.
    error LimitExceeded(uint256 limit, uint256 used);
    error InsufficientCollateral(uint256 available, uint256 wanted);
    error InsufficientLiquidity(uint256 available, uint256 wanted);
    /// @notice It might pass once `settleLots` folds in what has matured in the account's queues.
    error SettleLotsFirst(address account);
    /// @notice It might pass once `settleLiquidity` folds in held repayments that have matured.
    error SettleLiquidityFirst();
}
