// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {HeldLots} from "./HeldLots.sol";
import {HeldRepayments} from "./HeldRepayments.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title Debt, its cycles, and what they do to score and ratio
/// @notice A cycle opens with the first draw and closes when nothing is owed any more. Paid back
/// within the term it qualifies and is rewarded; too soon, or with too little debt for the time, it
/// is neutral. Score and outcome move when it closes, the reward in ratio when no money that counted
/// in it can be taken back any more. Money that is taken back makes the cycle `Reversed` for good.
abstract contract Cycles is HeldRepayments {
    using SafeCast for uint256;

    uint256 internal constant SCORE_REWARD = 10;
    uint256 internal constant SCORE_PENALTY = 20;
    uint256 internal constant RATIO_REWARD_BPS = 250;
    uint256 internal constant RATIO_PENALTY_BPS = 500;
    uint256 internal constant RATIO_CAP_BPS = 9_000;
    /// @dev How far back a relayed payment may have been made.
    uint256 internal constant PAID_AGO_MAX = 1 days;

    uint256 internal immutable _minCycleSeconds;
    uint256 internal immutable _minDebt;
    uint256 internal immutable _termSeconds;
    uint256 internal immutable _graceSeconds;
    uint256 internal immutable _initialRatioBps;

    /// @dev What must be undone if a repayment that counted in a closed cycle is revoked.
    struct ClosedCycle {
        uint40 openedAt;
        uint40 dueAt;
        uint88 debtSeconds;
        /// Position + 1 of its held repayment that is free last; that one carries the reward.
        uint40 lastHeld;
        uint16 scoreGiven;
        bool reversed;
    }

    mapping(address account => mapping(uint256 number => ClosedCycle)) private _closedCycles;
    /// @dev How long the contract was paused in all, and since when it is; 0 if it is not.
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

    // The clock that stands while the contract is paused: a pause makes nobody late.

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

    /// @dev When the open cycle is due, in real time.
    function _dueAt(Line storage line) internal view returns (uint256) {
        return line.dueAt + _stoodStill();
    }

    function _ratioBpsOf(Line storage line, uint256 rewards) internal view returns (uint256 bps) {
        bps = line.ratioBps == 0 ? _initialRatioBps : line.ratioBps;
        if (rewards == 0 || line.defaulted) return bps;
        bps += rewards * RATIO_REWARD_BPS;
        if (bps > RATIO_CAP_BPS) bps = RATIO_CAP_BPS;
    }

    /// @dev What `shares` let the account use, rounded down; nothing after a default.
    function _limitFloor(Line storage line, uint256 shares, uint256 rewards)
        internal
        view
        returns (uint256)
    {
        if (line.defaulted) return 0;
        return _ausdOfSharesFloor(shares) * _ratioBpsOf(line, rewards) / 10_000;
    }

    /// @dev Folds lots, then held repayments, at most `most` of both together.
    function _foldHolds(address account, uint256 most) internal returns (uint256 left) {
        Line storage line = _lines[account];
        left = most - _foldLots(line, account, most);
        (uint256 read, uint256 rewards) = _foldRepayments(line, account, left);
        left -= read;
        if (rewards > 0) line.ratioBps = _ratioBpsOf(line, rewards).toUint16();
    }

    /// @dev Counts debt times seconds up to now; before every change of the debt.
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

    /// @dev `foldsMax`: how many matured repayments may be folded into the pool for it.
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

    /// @dev `amount` is at most the debt. Where it goes from here, pool or queue, is the caller's.
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

    /// @dev Into the bounds that the contract itself can vouch for; never a reason to revert.
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
        // By its time alone: if the last one was revoked, others of the cycle may still be held.
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

    /// @dev Late by the latest time at which any of it was paid, not by when we were told.
    function _outcomeOf(Line storage line) private view returns (Outcome) {
        if (line.paidAt > _dueAt(line)) return Outcome.Late;
        if (line.reversed) return Outcome.Reversed;
        bool tooSoon = block.timestamp - line.openedAt < _minCycleSeconds;
        return tooSoon || line.debtSeconds < _minDebt * _minCycleSeconds
            ? Outcome.Short
            : Outcome.Qualified;
    }

    /// @dev Takes back a repayment: its amount is owed again, with the due date it had, and what the
    /// cycle it counted in had earned is lost.
    function _returnDebt(bytes32 ref, address account, uint256 amount, uint256 number) internal {
        Line storage line = _lines[account];
        bool stillOpen = line.openedAt != 0 && number == uint256(line.cyclesClosed) + 1;
        if (stillOpen) {
            line.reversed = true;
            line.totalRepaid -= uint112(amount);
            _count(line);
        } else {
            ClosedCycle storage closed = _closedCycles[account][number];
            // Without an entry it ended in a default, and a default stays one.
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

    /// @dev Into the open cycle, or a new one; in both the debt is as old as it was.
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

    /// @dev After an extension: the reward of a cycle waits for the last of its repayments.
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

    /// @dev Seizes what collateral there is; the rest of the debt stays, without a cycle.
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

    /// @dev Turns collateral into liquidity and takes its value off the debt.
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
