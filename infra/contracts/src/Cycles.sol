// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {HeldLots} from "./HeldLots.sol";
import {HeldRepayments} from "./HeldRepayments.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title Debt, its cycles, and their effect on score and ratio
/// @notice A cycle opens with the first draw and closes when nothing is owed. Repaid within the
/// term, it qualifies for a reward; too short or with too little debt, it is neutral. Score and
/// outcome change when it closes, the ratio reward comes when no payment of the cycle can be
/// revoked any more. Revoking a payment makes the cycle `Reversed` permanently.
abstract contract Cycles is HeldRepayments {
    using SafeCast for uint256;

    uint256 internal constant SCORE_REWARD = 10;
    uint256 internal constant SCORE_PENALTY = 20;
    uint256 internal constant RATIO_REWARD_BPS = 250;
    uint256 internal constant RATIO_PENALTY_BPS = 500;
    uint256 internal constant RATIO_CAP_BPS = 9_000;
    /// @dev Maximum age of a relayed payment.
    uint256 internal constant PAID_AGO_MAX = 1 days;

    uint256 internal immutable _minCycleSeconds;
    uint256 internal immutable _minDebt;
    uint256 internal immutable _termSeconds;
    uint256 internal immutable _graceSeconds;
    uint256 internal immutable _initialRatioBps;

    /// @dev Data to undo a closed cycle when one of its repayments is revoked.
    struct ClosedCycle {
        uint40 openedAt;
        uint40 dueAt;
        uint88 debtSeconds;
        /// Position + 1 of its held repayment that matures last and carries the reward.
        uint40 lastHeld;
        uint16 scoreGiven;
        bool reversed;
    }

    mapping(address account => mapping(uint256 number => ClosedCycle)) private _closedCycles;
    /// @dev Total paused time, and start of the current pause; 0 if not paused.
    uint40 private _pausedSeconds;
    uint40 private _pausedSince;

    constructor(Terms memory terms) HeldLots(terms.holdSeconds) {
        bool sane = terms.minCycleSeconds <= terms.termSeconds && terms.termSeconds <= 3650 days
            && terms.graceSeconds >= PAID_AGO_MAX && terms.graceSeconds <= 3650 days
            && terms.initialRatioBps > 0 && terms.initialRatioBps <= RATIO_CAP_BPS
            && terms.minDebt <= type(uint40).max;
        if (!sane) revert InvalidTerms();
        _minCycleSeconds = terms.minCycleSeconds;
        _minDebt = terms.minDebt;
        _termSeconds = terms.termSeconds;
        _graceSeconds = terms.graceSeconds;
        _initialRatioBps = terms.initialRatioBps;
    }

    // A clock that stops during a pause, so that a pause makes no cycle late.

    function _stopClock() internal {
        _pausedSince = uint40(block.timestamp);
    }

    function _startClock() internal {
        _pausedSeconds += uint40(block.timestamp) - _pausedSince;
        _pausedSince = 0;
    }

    function _stoodStill() private view returns (uint256 total) {
        total = _pausedSeconds;
        if (_pausedSince != 0) total += block.timestamp - _pausedSince;
    }

    /// @dev Due date of the open cycle in real time.
    function _dueAt(Line storage line) internal view returns (uint256) {
        return line.dueAt + _stoodStill();
    }

    function _ratioBpsOf(Line storage line, uint256 rewards) internal view returns (uint256 bps) {
        bps = line.ratioBps == 0 ? _initialRatioBps : line.ratioBps;
        if (rewards == 0 || line.defaulted) return bps;
        bps += rewards * RATIO_REWARD_BPS;
        if (bps > RATIO_CAP_BPS) bps = RATIO_CAP_BPS;
    }

    /// @dev Limit that `shares` give the account, rounded down; 0 after a default.
    function _limitFloor(Line storage line, uint256 shares, uint256 rewards)
        internal
        view
        returns (uint256)
    {
        if (line.defaulted) return 0;
        return _ausdOfSharesFloor(shares) * _ratioBpsOf(line, rewards) / 10_000;
    }

    /// @dev Folds lots, then held repayments, at most `most` in total.
    function _foldHolds(address account, uint256 most) internal returns (uint256 left) {
        Line storage line = _lines[account];
        left = most - _foldLots(line, account, most);
        (uint256 read, uint256 rewards) = _foldRepayments(line, account, left);
        left -= read;
        if (rewards > 0) line.ratioBps = _ratioBpsOf(line, rewards).toUint16();
    }

    /// @dev Counts debt × seconds up to now. Called before every change of the debt.
    function _count(Line storage line) private {
        uint256 seconds_ = block.timestamp - line.countedAt;
        uint256 total = line.debtSeconds + uint256(line.drawn) * seconds_;
        line.debtSeconds = total > type(uint88).max ? type(uint88).max : uint88(total);
        line.countedAt = uint40(block.timestamp);
    }

    function _open(address account, Line storage line, uint256 openedAt, uint256 dueAt) private {
        (line.openedAt, line.dueAt) = (uint40(openedAt), uint40(dueAt));
        line.countedAt = uint40(block.timestamp);
        (line.paidAt, line.debtSeconds) = (0, 0);
        emit CycleOpened(account, uint256(line.cyclesClosed) + 1, openedAt);
    }

    function _raiseDebt(Line storage line, uint256 amount) private returns (uint256 drawnAfter) {
        drawnAfter = line.drawn + amount;
        line.drawn = drawnAfter.toUint104();
        if (drawnAfter > line.peakDrawn) line.peakDrawn = uint112(drawnAfter);
    }

    /// @dev `foldsMax`: maximum number of matured repayments to fold into the pool.
    function _addDebt(address account, uint256 amount, uint256 foldsMax)
        internal
        returns (uint256 drawnAfter)
    {
        Line storage line = _lines[account];
        if (line.openedAt == 0) {
            _open(account, line, block.timestamp, block.timestamp + _termSeconds - _stoodStill());
        } else {
            if (block.timestamp > _dueAt(line)) revert TermPassed(account);
            _count(line);
        }
        _takeLiquidity(amount, foldsMax);
        return _raiseDebt(line, amount);
    }

    /// @dev `amount` is at most the debt. The caller moves the AUSD to the pool or the queue.
    function _subtractDebt(
        bytes32 ref,
        address account,
        address payer,
        uint256 amount,
        uint256 paidAt
    ) internal {
        Line storage line = _lines[account];
        uint256 drawnAfter = line.drawn - amount;
        if (line.openedAt != 0) {
            _count(line);
            if (paidAt > line.paidAt) line.paidAt = uint40(paidAt);
            line.totalRepaid += uint112(amount);
        }
        line.drawn = uint104(drawnAfter);
        emit Repaid(ref, account, payer, amount, drawnAfter);
        if (drawnAfter == 0 && line.openedAt != 0) _closeRepaid(account, line);
    }

    /// @dev Clamps `paidAt` to the range the contract accepts; never reverts.
    function _paidAtWithin(address account, uint256 paidAt) internal view returns (uint256) {
        uint256 least = block.timestamp - PAID_AGO_MAX;
        uint256 openedAt = _lines[account].openedAt;
        if (least < openedAt) least = openedAt;
        if (paidAt < least) return least;
        return paidAt > block.timestamp ? block.timestamp : paidAt;
    }

    function _closeRepaid(address account, Line storage line) private {
        Outcome outcome = _outcomeOf(line);
        uint256 lastHeld = line.lastHeld;
        // Only its time counts: even if it was revoked, others of the cycle may still be held.
        bool waits = lastHeld != 0 && _repayments[account][lastHeld - 1].until > block.timestamp;
        if (outcome == Outcome.Late) {
            line.score = line.score > SCORE_PENALTY ? uint32(line.score - SCORE_PENALTY) : 0;
            uint256 ratioBps = _ratioBpsOf(line, 0);
            bool floored = ratioBps < _initialRatioBps + RATIO_PENALTY_BPS;
            line.ratioBps = uint16(floored ? _initialRatioBps : ratioBps - RATIO_PENALTY_BPS);
        } else if (outcome == Outcome.Qualified) {
            line.score += uint32(SCORE_REWARD);
            if (waits) {
                _repayments[account][lastHeld - 1].state = HoldQueue.State.HeldWithReward;
            } else {
                line.ratioBps = uint16(_ratioBpsOf(line, 1));
            }
        }
        if (waits) {
            uint16 given = outcome == Outcome.Qualified ? uint16(SCORE_REWARD) : 0;
            _closedCycles[account][uint256(line.cyclesClosed) + 1] = ClosedCycle(
                line.openedAt, line.dueAt, line.debtSeconds, uint40(lastHeld), given, line.reversed
            );
        }
        _closeCycle(account, line, outcome);
    }

    /// @dev Late is decided by the time of the latest payment, not by when it was relayed.
    function _outcomeOf(Line storage line) private view returns (Outcome) {
        if (line.paidAt > _dueAt(line)) return Outcome.Late;
        if (line.reversed) return Outcome.Reversed;
        bool tooSoon = block.timestamp - line.openedAt < _minCycleSeconds;
        return tooSoon || line.debtSeconds < _minDebt * _minCycleSeconds
            ? Outcome.Short
            : Outcome.Qualified;
    }

    /// @dev Reverses a repayment: its amount is owed again with the original due date, and its
    /// cycle loses its rewards.
    function _returnDebt(bytes32 ref, address account, uint256 amount, uint256 number) internal {
        Line storage line = _lines[account];
        bool stillOpen = line.openedAt != 0 && number == uint256(line.cyclesClosed) + 1;
        if (stillOpen) {
            line.reversed = true;
            line.totalRepaid -= uint112(amount);
            _count(line);
        } else {
            ClosedCycle storage closed = _closedCycles[account][number];
            // Without an entry it ended in a default, which is permanent.
            if (closed.openedAt != 0) _reverse(account, line, closed, number, amount);
            if (!line.defaulted) _reopen(account, line, closed);
        }
        uint256 drawnAfter = _raiseDebt(line, amount);
        emit RepaymentRevoked(ref, account, amount, drawnAfter, line.openedAt);
    }

    function _reverse(
        address account,
        Line storage line,
        ClosedCycle storage closed,
        uint256 number,
        uint256 amount
    ) private {
        if (!closed.reversed) {
            closed.reversed = true;
            uint32 given = closed.scoreGiven;
            line.score = line.score > given ? line.score - given : 0;
            HoldQueue.Hold storage last = _repayments[account][closed.lastHeld - 1];
            if (last.state == HoldQueue.State.HeldWithReward) last.state = HoldQueue.State.Held;
        }
        emit CycleReversed(account, number, amount, line.score);
    }

    /// @dev Returns the debt to the open cycle or a new one, with its original age.
    function _reopen(address account, Line storage line, ClosedCycle storage closed) private {
        if (line.openedAt == 0) {
            _open(account, line, closed.openedAt, closed.dueAt);
            line.debtSeconds = closed.debtSeconds;
            return;
        }
        _count(line);
        if (closed.openedAt < line.openedAt) line.openedAt = closed.openedAt;
        if (closed.dueAt < line.dueAt) line.dueAt = closed.dueAt;
    }

    /// @dev After an extension, moves the cycle's reward to its repayment that matures last.
    function _moveReward(address account, uint256 index, uint256 until) internal {
        Line storage line = _lines[account];
        uint256 number = _repayments[account][index].cycle;
        if (line.openedAt != 0 && number == uint256(line.cyclesClosed) + 1) {
            uint256 lastHeld = line.lastHeld;
            if (lastHeld != 0 && until > _repayments[account][lastHeld - 1].until) {
                line.lastHeld = uint40(index + 1);
            }
            return;
        }
        ClosedCycle storage closed = _closedCycles[account][number];
        if (closed.openedAt == 0 || closed.lastHeld == index + 1) return;
        HoldQueue.Hold storage last = _repayments[account][closed.lastHeld - 1];
        if (until <= last.until) return;
        if (last.state == HoldQueue.State.HeldWithReward) {
            last.state = HoldQueue.State.Held;
            _repayments[account][index].state = HoldQueue.State.HeldWithReward;
        }
        closed.lastHeld = uint40(index + 1);
    }

    /// @dev Seizes the collateral; remaining debt stays without a cycle.
    function _default(address account) internal {
        Line storage line = _lines[account];
        if (line.defaulted) revert AccountDefaulted(account);
        if (line.openedAt == 0) revert NothingOwed(account);
        if (block.timestamp <= _dueAt(line) + _graceSeconds) revert TermNotPassed(account);
        (uint256 seized,) = _seizeForDebt(account, FOLDS_PER_CALL);
        line.totalRepaid += uint112(seized);
        line.defaulted = true;
        line.score = 0;
        line.ratioBps = uint16(_initialRatioBps);
        emit DefaultMarked(account, uint256(line.cyclesClosed) + 1, seized, line.drawn);
        _closeCycle(account, line, Outcome.Defaulted);
    }

    /// @dev Turns collateral into liquidity and reduces the debt by its value.
    function _seizeForDebt(address account, uint256 lotsMax)
        internal
        returns (uint256 amount, uint256 shares)
    {
        Line storage line = _lines[account];
        (amount, shares) = _seize(account, line.drawn, lotsMax);
        line.drawn -= uint104(amount);
        _addLiquidity(amount);
    }

    function _closeCycle(address account, Line storage line, Outcome outcome) private {
        uint32 number = line.cyclesClosed + 1;
        emit CycleClosed(
            account,
            number,
            uint8(outcome),
            line.peakDrawn,
            line.totalRepaid,
            line.score,
            _ratioBpsOf(line, 0)
        );
        line.cyclesClosed = number;
        (line.openedAt, line.reversed, line.lastHeld) = (0, false, 0);
        (line.peakDrawn, line.totalRepaid) = (0, 0);
    }
}
