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
        /// Minimum debt: a cycle counts if debt × seconds reaches `minDebt` × `minCycleSeconds`.
        uint256 minDebt;
        uint256 termSeconds;
        /// Grace of at least a day, because a relayed payment may be a day old.
        uint256 graceSeconds;
        uint256 initialRatioBps;
    }

    /// @notice State of an account at the block's time, matured holds included.
    struct Account {
        bool verified;
        bool defaulted;
        /// True if the account cannot draw or withdraw until the verifier unfreezes it.
        bool frozen;
        uint256 score;
        uint256 ratioBps;
        /// Number of closed cycles, reversed ones included.
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
        /// Amount that one `draw` can borrow now, within limit and pool.
        uint256 available;
        /// Opening time of the open cycle, its due date, and the last second in which a payment
        /// prevents its default; 0 if no cycle is open. The last is the end of the grace period, or
        /// later if debt was restored; `markDefault` is possible after a week more, in which such a
        /// payment may be recorded. A pause moves the latter two by its length when it ends; until
        /// then no cycle becomes late or can be defaulted.
        uint256 openedAt;
        uint256 dueAt;
        uint256 defaultsAt;
        /// Number of this account's events so far.
        uint256 events;
    }

    /// @notice One relayed operation. Kinds: 0 top-up, 1 held top-up, 2 repayFor, 3 revokeTopUp, 4
    /// held repayFor, 5 revokeRepayment, 6 extendHold. Fields that a kind does not use are 0; the
    /// `amount` of kinds 3 and 5 is how much of the payment is left.
    struct Op {
        uint8 kind;
        bytes32 ref;
        address account;
        uint256 amount;
        uint64 paidAt;
    }

    /// @notice State of a hold. `Released`: its end has passed, and it is no longer revocable.
    enum HoldState { None, Held, Released, Revoked }

    /// @notice Outcome of a cycle. `Reversed`: a payment that counted in it was revoked.
    enum Outcome { Qualified, Short, Late, Defaulted, Reversed }

    /// @dev Everything that an account holds until the same time.
    struct Bucket {
        uint40 until;
        /// Shares of held top-ups and held excess.
        uint104 shares;
        /// Debt repaid with held money, in AUSD.
        uint96 repaid;
        /// Ratio rewards of cycles whose last held repayment ends then.
        uint16 rewards;
    }

    /// @dev Stored account, packed by storage word. `ratioBps` 0 means the initial ratio.
    struct Line {
        uint104 drawn;
        /// Opening time of the current cycle, or of an older one whose debt was restored to it; 0
        /// if no cycle is open.
        uint40 openedAt;
        /// Due date of the open cycle, on the clock that stops during a pause.
        uint40 dueAt;
        /// Time of the open cycle's latest payment.
        uint40 paidAt;
        uint32 score;
        uint112 shares;
        uint40 events;
        uint16 ratioBps;
        bool verified;
        bool defaulted;
        bool frozen;
        /// True if a repayment that counted in the open cycle was revoked.
        bool reversed;
        /// End of the open cycle's held repayment that ends last; 0 if it has none.
        uint40 heldUntil;
        uint88 debtSeconds;
        /// Time up to which `debtSeconds` is counted.
        uint40 countedAt;
        /// Time at which the current cycle began to exist, not that of restored debt.
        uint40 startedAt;
        /// Time at which debt was last restored to the open cycle, on the clock that stops during a
        /// pause; 0 if none was.
        uint40 restoredAt;
        uint32 cyclesClosed;
        uint112 peakDrawn;
        uint112 totalRepaid;
        /// AUSD that `autoRepay` may take in each cycle; 0 if the account allows none.
        uint96 autoRepayMax;
        /// AUSD that it took in the cycle `autoRepayCycle`.
        uint96 autoRepayTaken;
        uint32 autoRepayCycle;
        /// True if it takes collateral, false if it takes AUSD of the wallet.
        bool autoRepayCollateral;
        Bucket[16] buckets;
    }

    // Every event that changes state carries `sequence`, its number among all of them from 1 on.

    event VerifiedSet(address indexed account, bool verified, uint256 sequence);
    event FrozenSet(address indexed account, bool frozen, uint256 sequence);
    /// @notice Collateral was added by a top-up, or by the excess of a repayment. `heldUntil` is 0
    /// if the shares count at once.
    event CollateralAdded(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 heldUntil,
        uint256 sequence
    );
    /// @notice `amount` of a held top-up, or of the held excess of a repayment, was returned to the
    /// treasury. Yield that its shares earned stays with the other shares.
    event TopUpRevoked(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 sequence
    );
    /// @notice Collateral was withdrawn. `to` is this contract if the collateral repaid the
    /// account's debt; a `Repaid` follows.
    event CollateralWithdrawn(
        address indexed account,
        address indexed to,
        uint256 amount,
        uint256 shares,
        uint256 sequence
    );
    event Drawn(
        address indexed account,
        address indexed to,
        uint256 amount,
        uint256 drawnAfter,
        uint256 sequence
    );
    /// @notice Debt was repaid. `ref` is 0 for repayments by the account itself.
    event Repaid(
        bytes32 indexed ref,
        address indexed account,
        address indexed payer,
        uint256 amount,
        uint256 drawnAfter,
        uint256 sequence
    );
    /// @notice A repayment is held. Emitted directly before `Repaid`: the same amount stays
    /// encumbered until `heldUntil`. The amount is 0, and no `Repaid` follows, if the payment was
    /// all excess.
    event RepaymentHeld(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 heldUntil,
        uint256 sequence
    );
    /// @notice A repayment was revoked: its amount is owed again and was returned to the treasury.
    /// `openedAt` belongs to the cycle in which it is owed; 0 if the account is defaulted and has
    /// no cycle. That cycle cannot be defaulted for a day.
    event RepaymentRevoked(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 drawnAfter,
        uint256 openedAt,
        uint256 sequence
    );
    event HoldExtended(
        bytes32 indexed ref, address indexed account, uint256 heldUntil, uint256 sequence
    );
    /// @notice A cycle opened. Numbers start at 1. `openedAt` is in the past if the cycle continues
    /// a restored debt. `dueAt` is the due date, as in `accountOf`.
    event CycleOpened(
        address indexed account,
        uint256 indexed number,
        uint256 openedAt,
        uint256 dueAt,
        uint256 sequence
    );
    /// @notice A debt restored to the open cycle brought an earlier opening time or due date.
    event CycleRedated(
        address indexed account,
        uint256 indexed number,
        uint256 openedAt,
        uint256 dueAt,
        uint256 sequence
    );
    /// @notice A pause ended: the due dates of all open cycles moved by its length.
    event TermsExtended(uint256 seconds_, uint256 sequence);
    /// @notice A cycle closed. `totalRepaid` includes collateral seized by a default, and excludes
    /// revoked amounts.
    event CycleClosed(
        address indexed account,
        uint256 indexed number,
        uint8 outcome,
        uint256 peakDrawn,
        uint256 totalRepaid,
        uint256 scoreAfter,
        uint256 ratioBpsAfter,
        uint256 sequence
    );
    /// @notice A closed cycle became `Reversed`: a repayment of `amount` that counted was revoked.
    event CycleReversed(
        address indexed account,
        uint256 indexed number,
        uint256 amount,
        uint256 scoreAfter,
        uint256 sequence
    );
    /// @notice An account defaulted. Emitted directly before its `CycleClosed`.
    event DefaultMarked(
        address indexed account,
        uint256 indexed number,
        uint256 seized,
        uint256 stillOwed,
        uint256 sequence
    );
    /// @notice Collateral was seized for a defaulted debt after `DefaultMarked`.
    event CollateralSeized(
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 drawnAfter,
        uint256 sequence
    );
    /// @notice The account allowed automatic repayments of up to `maxPerCycle` in each cycle, or ended
    /// that with 0.
    event AutoRepaySet(
        address indexed account, uint256 maxPerCycle, bool fromCollateral, uint256 sequence
    );
    /// @notice Someone ordered an automatic repayment. Emitted directly before the events of the
    /// repayment: `CollateralWithdrawn` if it is `fromCollateral`, then `Repaid`.
    event AutoRepaid(
        address indexed account, uint256 amount, bool fromCollateral, uint256 sequence
    );
    event YieldAdded(address indexed payer, uint256 amount, uint256 sequence);
    event LiquidityFunded(address indexed payer, uint256 amount, uint256 sequence);
    event LiquidityWithdrawn(address indexed to, uint256 amount, uint256 sequence);

    // The following events report a call without effect.

    event AlreadyApplied(bytes32 indexed ref);
    event OpFailed(uint256 indexed index, bytes32 indexed ref, bytes reason);

    error ZeroAddress();
    error ZeroAmount();
    error ZeroRef();
    /// @notice The amount is too small to buy one share.
    error ZeroShares();
    error InvalidTerms();
    /// @notice A share would be worth more than a unit, a million times its first value.
    error YieldTooLarge(uint256 amount);
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
    error AutoRepayNotAllowed(address account);
    /// @notice `autoRepay` works from this second on.
    error AutoRepayTooEarly(uint256 from);
    /// @notice All of the bound was taken in this cycle.
    error AutoRepayLimitReached(uint256 maxPerCycle);
    /// @notice Debt plus encumbered debt would exceed the limit of the matured collateral.
    error LimitExceeded(uint256 limit, uint256 used);
    error InsufficientCollateral(uint256 available, uint256 wanted);
    error InsufficientLiquidity(uint256 available, uint256 wanted);
}
