// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Structs, events and errors of the credit line
/// @notice AUSD amounts are in 10^-6 AUSD, times in unix seconds, ratios in basis points.
abstract contract CreditLineTypes {
    /// @notice Immutable terms, set by the constructor.
    struct Terms {
        address token;
        address treasury;
        address admin;
        uint256 holdSeconds;
        uint256 minCycleSeconds;
        /// A cycle counts if debt × seconds reaches `minDebt` × `minCycleSeconds`.
        uint256 minDebt;
        uint256 termSeconds;
        /// At least a day, because a relayed payment may be a day old.
        uint256 graceSeconds;
        uint256 initialRatioBps;
    }

    /// @notice State of an account at the block's time, matured holds included.
    struct Account {
        bool verified;
        bool defaulted;
        /// Cannot draw or withdraw until the verifier unfreezes it.
        bool frozen;
        uint256 score;
        uint256 ratioBps;
        /// Closed cycles, reversed ones included.
        uint256 cycles;
        /// AUSD value of the matured shares, rounded down.
        uint256 collateral;
        uint256 shares;
        uint256 pendingShares;
        /// Time at which the last pending lot matures; 0 if none is pending.
        uint256 pendingUntil;
        /// Debt repaid with money that its payer can still reverse.
        uint256 encumbered;
        /// Time at which the last encumbered amount is freed; 0 if nothing is encumbered.
        uint256 encumberedUntil;
        uint256 limit;
        uint256 drawn;
        /// Amount that can be drawn now, within limit and pool.
        uint256 available;
    }

    /// @notice One relayed operation. Kinds: 0 top-up, 1 held top-up, 2 repayFor, 3 revokeTopUp,
    /// 4 held repayFor, 5 revokeRepayment, 6 extendHold. Fields a kind does not use are 0.
    struct Op {
        uint8 kind;
        bytes32 ref;
        address account;
        uint256 amount;
        uint64 paidAt;
    }

    /// @notice State of a hold. `Released`: credited to the account or seized, and no longer
    /// revocable.
    enum HoldState { None, Held, Released, Revoked }

    /// @notice Outcome of a cycle. `Reversed`: a payment that counted in it was revoked.
    enum Outcome { Qualified, Short, Late, Defaulted, Reversed }

    /// @dev Stored account, packed by storage word. `ratioBps` 0 means the initial ratio.
    struct Line {
        uint128 shares;
        uint128 pendingShares;
        uint104 drawn;
        uint104 encumbered;
        uint16 ratioBps;
        bool verified;
        bool defaulted;
        bool frozen;
        /// Opening time of the current cycle; 0 if none is open.
        uint40 openedAt;
        /// End of its term, on the clock that stops during a pause.
        uint40 dueAt;
        /// Time of its latest payment.
        uint40 paidAt;
        /// Time up to which `debtSeconds` is counted.
        uint40 countedAt;
        uint88 debtSeconds;
        /// True if a repayment that counted in it was revoked.
        bool reversed;
        uint112 peakDrawn;
        uint112 totalRepaid;
        uint32 cyclesClosed;
        uint32 score;
        uint40 lotHead;
        uint40 lotTail;
        uint40 repaymentHead;
        uint40 repaymentTail;
        /// Position + 1 of the open cycle's held repayment that matures last; 0 if none.
        uint40 lastHeld;
    }

    event VerifiedSet(address indexed account, bool verified);
    event FrozenSet(address indexed account, bool frozen);
    /// @notice Collateral from a top-up, or from the excess of a repayment. `heldUntil` is 0 if the
    /// shares count at once.
    event CollateralAdded(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 heldUntil
    );
    /// @notice A held top-up, or the held excess of a repayment, was returned to the treasury.
    event TopUpRevoked(
        bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares
    );
    /// @notice `to` is this contract if the collateral repaid the account's debt; a `Repaid`
    /// follows.
    event CollateralWithdrawn(
        address indexed account, address indexed to, uint256 amount, uint256 shares
    );
    event Drawn(address indexed account, address indexed to, uint256 amount, uint256 drawnAfter);
    /// @notice `ref` is 0 for repayments by the account itself.
    event Repaid(
        bytes32 indexed ref,
        address indexed account,
        address indexed payer,
        uint256 amount,
        uint256 drawnAfter
    );
    /// @notice Emitted directly before `Repaid`: the same amount stays encumbered until
    /// `heldUntil`. The amount is 0, and no `Repaid` follows, if the payment was all excess.
    event RepaymentHeld(
        bytes32 indexed ref, address indexed account, uint256 amount, uint256 heldUntil
    );
    /// @notice The amount is owed again and was returned to the treasury. `openedAt` belongs to the
    /// cycle it is owed in; 0 if the account is defaulted and has no cycle.
    event RepaymentRevoked(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 drawnAfter,
        uint256 openedAt
    );
    event HoldExtended(bytes32 indexed ref, address indexed account, uint256 heldUntil);
    /// @notice Numbers start at 1. `openedAt` is in the past if the cycle continues a restored
    /// debt.
    event CycleOpened(address indexed account, uint256 indexed number, uint256 openedAt);
    /// @notice `totalRepaid` includes collateral seized by a default, and excludes revoked amounts.
    event CycleClosed(
        address indexed account,
        uint256 indexed number,
        uint8 outcome,
        uint256 peakDrawn,
        uint256 totalRepaid,
        uint256 scoreAfter,
        uint256 ratioBpsAfter
    );
    /// @notice A closed cycle becomes `Reversed`: a repayment of `amount` that counted was revoked.
    event CycleReversed(
        address indexed account, uint256 indexed number, uint256 amount, uint256 scoreAfter
    );
    /// @notice Emitted directly before its `CycleClosed`.
    event DefaultMarked(
        address indexed account, uint256 indexed number, uint256 seized, uint256 stillOwed
    );
    /// @notice Collateral seized for a defaulted debt after `DefaultMarked`.
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
    /// @notice The amount is too small to buy one share.
    error ZeroShares();
    error InvalidTerms();
    error InvalidRecipient(address to);
    error UnknownKind(uint8 kind);
    error RefConflict(bytes32 ref);
    error NotHeld(bytes32 ref);
    /// @notice The hold was already extended by a day, or would not end any later.
    error HoldNotExtendable(bytes32 ref);
    error OnlySelf();
    /// @notice `many` has too little gas left to run the operation at `index`.
    error GasTooLow(uint256 index);
    error NotVerified(address account);
    error AccountFrozen(address account);
    error AccountDefaulted(address account);
    error NotDefaulted(address account);
    error TermPassed(address account);
    error TermNotPassed(address account);
    error NothingOwed(address account);
    /// @notice Debt plus encumbered debt would exceed the limit of the matured collateral.
    error LimitExceeded(uint256 limit, uint256 used);
    error InsufficientCollateral(uint256 available, uint256 wanted);
    error InsufficientLiquidity(uint256 available, uint256 wanted);
    /// @notice The call may succeed after `settleLots` folds the account's matured holds.
    error SettleLotsFirst(address account);
    /// @notice The call may succeed after `settleLiquidity` folds matured held repayments.
    error SettleLiquidityFirst();
}
