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
        uint256 termSeconds;
        uint256 graceSeconds;
        uint256 initialRatioBps;
    }

    /// @notice One account as its owner sees it at the time of the block.
    struct Account {
        bool verified;
        bool defaulted;
        uint256 score;
        uint256 ratioBps;
        /// Closed cycles.
        uint256 cycles;
        /// AUSD value of the matured shares, rounded down.
        uint256 collateral;
        uint256 shares;
        uint256 pendingShares;
        /// When the last pending lot matures; 0 if none is pending.
        uint256 pendingUntil;
        uint256 limit;
        uint256 drawn;
    }

    /// @notice One relayed operation; kinds 0 top-up, 1 held top-up, 2 repayFor, 3 revokeTopUp.
    struct Op {
        uint8 kind;
        bytes32 ref;
        address account;
        uint256 amount;
    }

    /// @notice `Released` lots count as collateral, or were seized; both are beyond revoking.
    enum LotState { None, Held, Released, Revoked }

    /// @notice How a cycle ended.
    enum Outcome { Qualified, Short, Late, Defaulted }

    /// @dev Stored account. `ratioBps` 0 is the initial ratio, `openedAt` 0 means no open cycle.
    struct Line {
        uint128 shares;
        uint128 pendingShares;
        uint112 drawn;
        uint40 openedAt;
        uint32 cyclesClosed;
        uint32 score;
        uint16 ratioBps;
        bool verified;
        bool defaulted;
        uint128 peakDrawn;
        uint128 totalRepaid;
        uint64 lotHead;
        uint64 lotTail;
    }

    /// @dev A held top-up in its account's queue; packed into one word because folding reads many.
    struct Lot {
        uint40 until;
        LotState state;
        uint80 amount;
        uint128 shares;
    }

    event VerifiedSet(address indexed account, bool verified);
    /// @notice `heldUntil` is 0 if the shares count at once.
    event CollateralAdded(
        bytes32 indexed ref,
        address indexed account,
        uint256 amount,
        uint256 shares,
        uint256 heldUntil
    );
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
    event CycleOpened(address indexed account, uint256 indexed number);
    event CycleClosed(
        address indexed account,
        uint256 indexed number,
        uint8 outcome,
        uint256 peakDrawn,
        uint256 totalRepaid,
        uint256 scoreAfter,
        uint256 ratioBpsAfter
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
    error OnlySelf();
    /// @notice `many` was sent with too little gas to give the operation at `index` a fair run.
    error GasTooLow(uint256 index);
    error NotVerified(address account);
    error AccountDefaulted(address account);
    error NotDefaulted(address account);
    error TermPassed(address account);
    error TermNotPassed(address account);
    error NothingOwed(address account);
    /// @notice The debt would be larger than the matured collateral carries.
    error LimitExceeded(uint256 limit, uint256 drawn);
    error InsufficientCollateral(uint256 available, uint256 wanted);
    error InsufficientLiquidity(uint256 available, uint256 wanted);
    /// @notice It might pass once `settleLots` folds in the matured lots still in the queue.
    error SettleLotsFirst(address account);
}
