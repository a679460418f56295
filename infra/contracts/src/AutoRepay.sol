// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {OwnRepayments} from "./OwnRepayments.sol";

/// @title Automatic repayment
/// @notice An account allows once that its debt is repaid at the due date from its own money, up to
/// a bound per cycle. Anyone may then order that repayment, so no role gains a power by it: the money
/// can only reduce the account's own debt.
abstract contract AutoRepay is OwnRepayments {
    using SafeCast for uint256;

    /// @dev Time before the due date from which a repayment can be ordered, so that it is finalized
    /// before the cycle is late.
    uint256 private constant AHEAD = 1 days;

    /// @notice Allows `autoRepay` to repay up to `maxPerCycle` of the caller's debt in each cycle,
    /// from its collateral or else from its wallet, which must have approved this contract. 0 ends
    /// the permission. What was taken in the open cycle counts towards any new bound. Repeating the
    /// call has no effect.
    function setAutoRepay(uint256 maxPerCycle, bool fromCollateral) external {
        uint96 max = maxPerCycle.toUint96();
        bool collateral = fromCollateral && max > 0;
        Line storage line = _lineOf(msg.sender);
        if (line.autoRepayMax == max && line.autoRepayCollateral == collateral) return;
        (line.autoRepayMax, line.autoRepayCollateral) = (max, collateral);
        emit AutoRepaySet(msg.sender, max, collateral, _next(msg.sender));
    }

    /// @notice Repays the debt of `account`, or what is left of its bound in this cycle if that is
    /// less, as the account allowed. It repays that amount in whole or reverts. Anyone may call, from
    /// a day before the due date on, or from half of a term that is shorter than two days.
    function autoRepay(address account) external whenNotPaused nonReentrant {
        Line storage line = _lineOf(account);
        uint256 max = line.autoRepayMax;
        // guard: only an account that allowed it is repaid automatically
        if (max == 0) revert AutoRepayNotAllowed(account);
        if (line.openedAt == 0) revert NothingOwed(account);
        uint256 from = _autoRepayFrom(line);
        // guard: nothing is repaid automatically before its time
        if (block.timestamp < from) revert AutoRepayTooEarly(from);
        uint256 taken = _takenInCycle(line);
        // guard: an automatic repayment keeps to its bound per cycle
        if (taken >= max) revert AutoRepayLimitReached(max);
        uint256 amount = max - taken;
        if (amount > line.drawn) amount = line.drawn;
        // guard: an automatic repayment counts in its cycle
        line.autoRepayTaken = uint96(taken + amount);
        line.autoRepayCycle = uint32(_openNumber(line));
        bool collateral = line.autoRepayCollateral;
        emit AutoRepaid(account, amount, collateral, _next(account));
        if (collateral) _repayFromCollateral(account, amount);
        else _repayFromWallet(account, amount);
    }

    /// @notice Returns what the account allowed, the AUSD that `autoRepay` has taken in the open
    /// cycle, and the first second in which it works in that cycle; 0 without an open cycle. The
    /// latter moves with the due date.
    function autoRepayOf(address account)
        external
        view
        returns (uint256 maxPerCycle, bool fromCollateral, uint256 taken, uint256 from)
    {
        Line storage line = _lineOf(account);
        (maxPerCycle, fromCollateral) = (line.autoRepayMax, line.autoRepayCollateral);
        if (line.openedAt == 0) return (maxPerCycle, fromCollateral, 0, 0);
        return (maxPerCycle, fromCollateral, _takenInCycle(line), _autoRepayFrom(line));
    }

    function _autoRepayFrom(Line storage line) private view returns (uint256) {
        return _dueAt(line) - (_termSeconds < 2 * AHEAD ? _termSeconds / 2 : AHEAD);
    }

    /// @dev Returns what was taken in the open cycle. A cycle that continues restored debt is a new
    /// one.
    function _takenInCycle(Line storage line) private view returns (uint256) {
        return line.autoRepayCycle == _openNumber(line) ? line.autoRepayTaken : 0;
    }
}
