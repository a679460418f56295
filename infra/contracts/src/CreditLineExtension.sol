// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AutoRepay} from "./AutoRepay.sol";
import {CreditLineBase} from "./CreditLineBase.sol";
import {Buckets} from "./Buckets.sol";

/// @title Views of the credit line, automatic repayment, and functions for operators and helpers
/// @notice This code is called at the credit line's address, which runs it on its own storage.
contract CreditLineExtension is AutoRepay {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;
    using Buckets for Bucket[16];

    /// @notice Version of this interface, which clients check at startup.
    uint256 public constant version = 4;

    /// @dev Address of this code. A direct call there would act on empty storage.
    address private immutable _self = address(this);

    modifier onlyThroughLine() {
        if (address(this) == _self) revert OnlySelf();
        _;
    }

    constructor(Terms memory terms) CreditLineBase(terms) {}

    /// @notice Returns the length of a hold before any extension, in seconds.
    function holdSeconds() external view returns (uint256) {
        return _holdSeconds;
    }

    /// @notice Returns the minimum length of a cycle that counts, in seconds.
    function minCycleSeconds() external view returns (uint256) {
        return _minCycleSeconds;
    }

    /// @notice Returns the minimum debt: a cycle counts if debt × seconds reaches this ×
    /// `minCycleSeconds`.
    function minDebt() external view returns (uint256) {
        return _minDebt;
    }

    /// @notice Returns the time after which an open cycle is overdue, in seconds.
    function termSeconds() external view returns (uint256) {
        return _termSeconds;
    }

    /// @notice Returns the time after the term before an account can be defaulted, in seconds.
    function graceSeconds() external view returns (uint256) {
        return _graceSeconds;
    }

    /// @notice Returns the share of its collateral that a new account may draw, in basis points.
    function initialRatioBps() external view returns (uint256) {
        return _initialRatioBps;
    }

    /// @notice Returns the AUSD token.
    function token() external view returns (address) {
        return address(_token);
    }

    /// @notice Returns the account that pays top-ups and relayed repayments, and receives revoked
    /// amounts.
    function treasury() external view returns (address) {
        return _treasury;
    }

    /// @notice Returns the AUSD backing all shares, including held ones.
    function totalCollateral() external view returns (uint256) {
        return _totalCollateral;
    }

    /// @notice Returns the number of shares of all accounts, including held ones.
    function totalShares() external view returns (uint256) {
        return _totalShares;
    }

    /// @notice Returns the AUSD value of `shares`, rounded down.
    function ausdOfSharesFloor(uint256 shares) external view returns (uint256) {
        return _ausdOfSharesFloor(shares);
    }

    /// @notice Returns the AUSD in the lending pool that can be drawn.
    function liquidity() external view returns (uint256) {
        return _liquidity();
    }

    /// @notice Returns the AUSD in the lending pool that is not lent: `liquidity` plus held
    /// repayments.
    function poolBalance() external view returns (uint256) {
        return _poolBalance();
    }

    /// @notice Returns the number of events so far, which is the `sequence` of the last one.
    function sequence() external view returns (uint256) {
        return _pool.sequence;
    }

    /// @notice Returns the state of the account at this block's time, including matured holds.
    function accountOf(address account) external view returns (Account memory answer) {
        Line storage line = _lineOf(account);
        Buckets.Sums memory sums = line.buckets.survey();
        answer.verified = line.verified;
        answer.defaulted = line.defaulted;
        answer.frozen = line.frozen;
        answer.score = line.score;
        answer.ratioBps = _ratioBpsOf(line, sums.rewards);
        answer.cycles = line.cyclesClosed;
        answer.shares = line.shares + sums.shares;
        answer.collateral = _ausdOfSharesFloor(answer.shares);
        answer.pendingShares = sums.heldShares;
        answer.pendingUntil = sums.sharesUntil;
        answer.encumbered = sums.heldRepaid;
        answer.encumberedUntil = sums.repaidUntil;
        answer.limit = _limitFloor(line, answer.shares, sums.rewards);
        answer.drawn = line.drawn;
        answer.available = _availableOf(line, answer.limit, answer.drawn + answer.encumbered);
        answer.events = line.events;
        if (line.openedAt == 0) return answer;
        answer.openedAt = line.openedAt;
        answer.dueAt = _dueAt(line);
        answer.defaultsAt = _defaultsAt(line);
    }

    /// @notice Returns the hold under the ref of a top-up or repayment. All values are zero if
    /// there never was one.
    /// @return account Account of the hold.
    /// @return encumbered Debt it repaid, in AUSD, less what was revoked.
    /// @return collateral AUSD it added as collateral, less what was revoked.
    /// @return shares Shares of that collateral.
    /// @return until End of the hold.
    /// @return state State at this block's time; `Revoked` if nothing is left of it.
    function holdOf(bytes32 ref)
        external
        view
        returns (
            address account,
            uint256 encumbered,
            uint256 collateral,
            uint256 shares,
            uint256 until,
            HoldState state
        )
    {
        Payment storage payment = _paymentOf(ref);
        account = payment.account;
        if (account == address(0)) return (account, 0, 0, 0, 0, HoldState.None);
        (encumbered, collateral) = (payment.repaid, payment.collateral);
        (shares, until) = (payment.shares, payment.until);
        if (encumbered + collateral == 0) state = HoldState.Revoked;
        else state = _isHeld(payment) ? HoldState.Held : HoldState.Released;
    }

    /// @notice Sets whether the holder of `account` is verified. Repeating the call has no effect.
    function setVerified(address account, bool verified) external onlyRole(VERIFIER_ROLE) {
        if (account == address(0)) revert ZeroAddress();
        Line storage line = _lineOf(account);
        if (line.verified == verified) return;
        line.verified = verified;
        emit VerifiedSet(account, verified, _next(account));
    }

    /// @notice Blocks or unblocks drawing and withdrawing. Repeating the call has no effect.
    function setFrozen(address account, bool frozen) external onlyRole(VERIFIER_ROLE) {
        if (account == address(0)) revert ZeroAddress();
        Line storage line = _lineOf(account);
        if (line.frozen == frozen) return;
        line.frozen = frozen;
        emit FrozenSet(account, frozen, _next(account));
    }

    /// @notice Defaults an account whose cycle is open a week after its `defaultsAt`. Anyone may
    /// call.
    function markDefault(address account) external whenNotPaused nonReentrant {
        _default(account);
    }

    /// @notice Seizes more from a defaulted account that still owes. Anyone may call.
    function seizeMore(address account) external whenNotPaused nonReentrant {
        Line storage line = _lineOf(account);
        if (!line.defaulted) revert NotDefaulted(account);
        if (line.drawn == 0) revert NothingOwed(account);
        (uint256 amount, uint256 shares) = _seizeForDebt(line);
        if (amount == 0) revert InsufficientCollateral(0, line.drawn);
        emit CollateralSeized(account, amount, shares, line.drawn, _next(account));
    }

    /// @notice Adds the caller's AUSD to the lending pool.
    function fundLiquidity(uint256 amount) external onlyThroughLine nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _addLiquidity(amount);
        emit LiquidityFunded(msg.sender, amount, _next());
        _token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Withdraws unlent AUSD from the lending pool.
    function withdrawLiquidity(uint256 amount, address to)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        _requirePayable(amount, to);
        _takeLiquidity(amount);
        emit LiquidityWithdrawn(to, amount, _next());
        _token.safeTransfer(to, amount);
    }

    /// @notice Stops draws, withdrawals and relayed payments. Repaying and revoking continue. Terms
    /// stop too, so a pause makes no cycle late.
    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
        _stopClock();
    }

    /// @notice Ends a pause.
    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
        _startClock();
    }

    /// @notice Adds the caller's AUSD to the value of all shares. Only the admin may call it,
    /// because it changes what every account owns.
    function addYield(uint256 amount)
        external
        onlyThroughLine
        // guard: yield is added only by the admin
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        if (amount == 0) revert ZeroAmount();
        _totalCollateral += amount.toUint128();
        // Without this check, rounding to whole shares could cost an account more than a unit.
        bool dear = _totalCollateral + VIRTUAL_AUSD > _totalShares + VIRTUAL_SHARES;
        // guard: a share is never worth more than a unit by yield
        if (dear) revert YieldTooLarge(amount);
        emit YieldAdded(msg.sender, amount, _next());
        _token.safeTransferFrom(msg.sender, address(this), amount);
    }

    function _availableOf(Line storage line, uint256 limit, uint256 used)
        private
        view
        returns (uint256 free)
    {
        if (!line.verified || line.defaulted || line.frozen || used >= limit || paused()) return 0;
        if (line.openedAt != 0 && block.timestamp > _dueAt(line)) return 0;
        free = limit - used;
        uint256 lendable = _liquidity();
        if (lendable < free) free = lendable;
    }
}
