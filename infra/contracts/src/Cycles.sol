// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Holds} from "./Holds.sol";
import {LendingPool} from "./LendingPool.sol";

/// @title Debt, its cycles, and their effect on score and ratio
/// @notice A cycle opens with the first draw and closes when nothing is owed. If it is repaid
/// within the term, it qualifies for a reward; if it was too short or had too little debt, it is
/// neutral. Score and outcome change when it closes. The ratio reward comes when no payment of the
/// cycle can be revoked any more. Revoking a payment makes the cycle `Reversed` permanently, and
/// its debt-time earns nothing: restored debt keeps its dates, but time and debt-time count from
/// its restoration, and its grace lasts for at least a day after it. A default has to wait for
/// payments that were made until the end of the grace: they may be recorded for a week.
abstract contract Cycles is Holds {
    using SafeCast for uint256;

    uint256 internal constant SCORE_REWARD = 10;
    uint256 internal constant SCORE_PENALTY = 20;
    uint256 internal constant RATIO_REWARD_BPS = 250;
    uint256 internal constant RATIO_PENALTY_BPS = 500;
    uint256 internal constant RATIO_CAP_BPS = 9_000;
    /// @dev Time after a payment in which it may be recorded with its own time: for a week, whatever
    /// it waits for. It is the same for every account, so nobody gains by making a payment wait.
    uint256 internal constant RECORDING_MAX = 7 days;
    /// @dev Least grace. A borrower who is reminded on the due date has a day to repay.
    uint256 internal constant GRACE_MIN = 1 days;
    /// @dev Grace of restored debt from its restoration.
    uint256 internal constant RESTORED_GRACE = 1 days;

    uint256 internal immutable _minCycleSeconds;
    uint256 internal immutable _minDebt;
    uint256 internal immutable _termSeconds;
    uint256 internal immutable _graceSeconds;
    uint256 internal immutable _initialRatioBps;

    /// @dev Data to undo a closed cycle when one of its repayments is revoked.
    struct ClosedCycle {
        uint40 openedAt;
        uint40 dueAt;
        /// End of its held repayment that ends last. Its ratio reward waits in that bucket.
        uint40 heldUntil;
        uint16 scoreGiven;
        bool reversed;
    }

    /// @dev Cycles that closed with a payment which could still be revoked.
    mapping(address account => mapping(uint256 number => ClosedCycle)) private _closedCycles;

    constructor(Terms memory terms) LendingPool(terms.holdSeconds) {
        // A cycle must be able to end after `minCycleSeconds` and before its due date. Restored debt
        // has a time of its own, so the length of a hold contradicts neither term nor grace.
        bool sane = terms.minCycleSeconds < terms.termSeconds && terms.termSeconds <= 3650 days
            && terms.graceSeconds >= GRACE_MIN && terms.graceSeconds <= 3650 days
            && terms.initialRatioBps > 0 && terms.initialRatioBps <= RATIO_CAP_BPS
            && terms.minDebt <= type(uint40).max;
        if (!sane) revert InvalidTerms();
        _minCycleSeconds = terms.minCycleSeconds;
        _minDebt = terms.minDebt;
        _termSeconds = terms.termSeconds;
        _graceSeconds = terms.graceSeconds;
        _initialRatioBps = terms.initialRatioBps;
    }

    // The terms run on a clock that stops during a pause, so that a pause makes no cycle late.

    function _stopClock() internal {
        _pool.pausedSince = uint40(block.timestamp);
    }

    function _startClock() internal {
        uint40 paused = uint40(_currentPause());
        (_pool.lastPausedAt, _pool.lastPauseSeconds) = (_pool.pausedSince, paused);
        (_pool.pausedSeconds, _pool.pausedSince) = (_pool.pausedSeconds + paused, 0);
        emit TermsExtended(paused, _next());
    }

    /// @dev Returns the length of the current pause so far, or 0 without one.
    function _currentPause() private view returns (uint256) {
        uint256 since = _pool.pausedSince;
        return since == 0 ? 0 : block.timestamp - since;
    }

    /// @dev Returns the due date of the open cycle. A pause moves it at its end, so that an event
    /// reports each change.
    function _dueAt(Line storage line) internal view returns (uint256) {
        return line.dueAt + _pool.pausedSeconds;
    }

    /// @dev Returns the end of the grace of the open cycle: a payment made until then prevents its
    /// default.
    function _defaultsAt(Line storage line) internal view returns (uint256) {
        uint256 usual = _dueAt(line) + _graceSeconds;
        uint256 restored = line.restoredAt;
        if (restored == 0) return usual;
        restored += _pool.pausedSeconds;
        // A payment made by `usual` can be revoked until then. Later payments, which may be revoked
        // in turn, delay a default no further.
        uint256 last = usual + RECORDING_MAX + _holdSeconds + EXTENSION_MAX + 2 * _step;
        // guard: a restoration delays no default beyond the last possible revocation
        uint256 own = (restored < last ? restored : last) + RESTORED_GRACE;
        // guard: restored debt has a day of grace
        return own > usual ? own : usual;
    }

    function _ratioBpsOf(Line storage line, uint256 rewards)
        internal
        view
        override
        returns (uint256 bps)
    {
        bps = line.ratioBps == 0 ? _initialRatioBps : line.ratioBps;
        // guard: a default ends the ratio rewards
        if (rewards == 0 || line.defaulted) return bps;
        bps += rewards * RATIO_REWARD_BPS;
        // guard: the ratio has a cap
        if (bps > RATIO_CAP_BPS) bps = RATIO_CAP_BPS;
    }

    /// @dev Returns the limit that `shares` give the account, rounded down; 0 after a default.
    function _limitFloor(Line storage line, uint256 shares, uint256 rewards)
        internal
        view
        returns (uint256)
    {
        if (line.defaulted) return 0;
        return _ausdOfSharesFloor(shares) * _ratioBpsOf(line, rewards) / 10_000;
    }

    /// @dev Counts debt × seconds up to now. It must run before every change of the debt of a cycle
    /// that may still earn a reward.
    function _count(Line storage line) private {
        uint256 seconds_ = block.timestamp - line.countedAt;
        uint256 total = line.debtSeconds + uint256(line.drawn) * seconds_;
        line.debtSeconds = total > type(uint88).max ? type(uint88).max : uint88(total);
        line.countedAt = uint40(block.timestamp);
    }

    function _open(address account, Line storage line, uint256 openedAt, uint256 dueAt) private {
        (line.openedAt, line.dueAt) = (uint40(openedAt), uint40(dueAt));
        // guard: a new cycle counts from its opening
        (line.startedAt, line.countedAt) = (uint40(block.timestamp), uint40(block.timestamp));
        // guard: a new cycle begins without debt-time
        // guard: a new cycle begins without a time of payment
        (line.paidAt, line.debtSeconds) = (0, 0);
        // Its grace is no shorter than that of restored debt: an old time would delay nothing.
        line.restoredAt = 0;
        emit CycleOpened(account, _openNumber(line), openedAt, _dueAt(line), _next(account));
    }

    /// @dev Returns the number of the open cycle, or of the next one if none is open.
    function _openNumber(Line storage line) internal view returns (uint256) {
        return uint256(line.cyclesClosed) + 1;
    }

    function _raiseDebt(Line storage line, uint256 amount) private returns (uint256 drawnAfter) {
        drawnAfter = line.drawn + amount;
        line.drawn = drawnAfter.toUint104();
        if (drawnAfter > line.peakDrawn) line.peakDrawn = uint112(drawnAfter);
    }

    function _addDebt(address account, uint256 amount) internal returns (uint256 drawnAfter) {
        Line storage line = _lineOf(account);
        if (line.openedAt == 0) {
            _open(account, line, block.timestamp, block.timestamp + _termSeconds - _pool.pausedSeconds);
        } else {
            if (block.timestamp > _dueAt(line)) revert TermPassed(account);
            // guard: a debt counts from when it is drawn
            _count(line);
        }
        _takeLiquidity(amount);
        return _raiseDebt(line, amount);
    }

    /// @dev Subtracts `amount`, which is at most the debt. The caller moves the AUSD to the pool or
    /// the queue.
    function _subtractDebt(
        bytes32 ref,
        address account,
        address payer,
        uint256 amount,
        uint256 paidAt
    ) internal {
        Line storage line = _lineOf(account);
        uint256 drawnAfter = line.drawn - amount;
        if (line.openedAt != 0) {
            _count(line);
            // guard: the latest payment decides whether a cycle is late
            if (paidAt > line.paidAt) line.paidAt = uint40(paidAt);
            line.totalRepaid += uint112(amount);
        }
        line.drawn = uint104(drawnAfter);
        emit Repaid(ref, account, payer, amount, drawnAfter, _next(account));
        if (drawnAfter == 0 && line.openedAt != 0) _closeRepaid(account, line);
    }

    /// @dev Clamps `paidAt` to the range the contract accepts. Never reverts.
    function _paidAtWithin(address account, uint256 paidAt) internal view returns (uint256) {
        uint256 least = block.timestamp - RECORDING_MAX;
        uint256 openedAt = _lineOf(account).openedAt;
        if (least < openedAt) least = openedAt;
        // guard: a time of payment is at most a week ago
        if (paidAt < least) return least;
        return paidAt > block.timestamp ? block.timestamp : paidAt;
    }

    function _closeRepaid(address account, Line storage line) private {
        Outcome outcome = _outcomeOf(line);
        // Even if the payment that ends last was revoked, others of the cycle may still be held.
        bool waits = line.heldUntil > block.timestamp;
        if (outcome == Outcome.Late) {
            // guard: a late cycle costs score
            line.score = line.score > SCORE_PENALTY ? uint32(line.score - SCORE_PENALTY) : 0;
            uint256 ratioBps = _ratioBpsOf(line, 0);
            bool floored = ratioBps < _initialRatioBps + RATIO_PENALTY_BPS;
            // guard: a late cycle costs ratio
            line.ratioBps = uint16(floored ? _initialRatioBps : ratioBps - RATIO_PENALTY_BPS);
        } else if (outcome == Outcome.Qualified) {
            line.score += uint32(SCORE_REWARD);
            // guard: the ratio reward waits for the last hold
            if (waits) _bucketOf(line, line.heldUntil).rewards++;
            else line.ratioBps = uint16(_ratioBpsOf(line, 1));
        }
        if (waits) {
            uint16 given = outcome == Outcome.Qualified ? uint16(SCORE_REWARD) : 0;
            _closedCycles[account][_openNumber(line)] = ClosedCycle(
                line.openedAt, line.dueAt, line.heldUntil, given, line.reversed
            );
        }
        _closeCycle(account, line, outcome);
    }

    /// @dev Returns the outcome of the cycle. The time of the latest payment decides whether it is
    /// late, not the time at which that payment was relayed.
    function _outcomeOf(Line storage line) private view returns (Outcome) {
        // guard: a late cycle gives no reward
        if (_isLate(line)) return Outcome.Late;
        // guard: a cycle with a revoked repayment gives no reward
        if (line.reversed) return Outcome.Reversed;
        // guard: restored debt makes no cycle long enough
        bool tooSoon = block.timestamp - line.startedAt < _minCycleSeconds;
        // guard: a cycle needs the least time
        // guard: a cycle needs the least debt-time
        // guard: a cycle needs all of the least debt-time
        return tooSoon || line.debtSeconds < _minDebt * _minCycleSeconds
            ? Outcome.Short
            : Outcome.Qualified;
    }

    /// @dev Returns whether the latest payment came after the due date. The last pause moves that date
    /// only for payments after its end. One made during it counts as of its start.
    function _isLate(Line storage line) private view returns (bool) {
        uint256 paidAt = line.paidAt;
        uint256 dueAt = _dueAt(line) + _currentPause();
        (uint256 since, uint256 length) = (_pool.lastPausedAt, _pool.lastPauseSeconds);
        // guard: a pause makes no earlier payment timely
        if (paidAt < since + length) {
            dueAt -= length;
            if (paidAt > since) paidAt = since;
        }
        return paidAt > dueAt;
    }

    /// @dev Reverses a repayment: its amount is owed again with the original due date, and its
    /// cycle loses its rewards.
    function _returnDebt(bytes32 ref, address account, uint256 amount, uint256 number) internal {
        Line storage line = _lineOf(account);
        if (_isOpen(line, number)) {
            // guard: a revoked repayment marks its open cycle
            line.reversed = true;
            line.totalRepaid -= uint112(amount);
        } else {
            ClosedCycle storage closed = _closedCycles[account][number];
            // A cycle without an entry ended in a default, which is permanent.
            if (closed.openedAt != 0) _reverse(account, line, closed, number, amount);
            if (!line.defaulted) _reopen(account, line, closed);
        }
        line.restoredAt = uint40(block.timestamp - _pool.pausedSeconds - _currentPause());
        uint256 drawnAfter = _raiseDebt(line, amount);
        emit RepaymentRevoked(ref, account, amount, drawnAfter, line.openedAt, _next(account));
    }

    function _isOpen(Line storage line, uint256 number) private view returns (bool) {
        return line.openedAt != 0 && number == _openNumber(line);
    }

    function _reverse(
        address account,
        Line storage line,
        ClosedCycle storage closed,
        uint256 number,
        uint256 amount
    ) private {
        // guard: a cycle loses its score once
        if (!closed.reversed) {
            closed.reversed = true;
            uint32 given = closed.scoreGiven;
            // guard: a reversed cycle loses its score
            line.score = line.score > given ? line.score - given : 0;
            // guard: a reversed cycle loses its ratio reward
            if (given > 0) _bucketOf(line, closed.heldUntil).rewards--;
        }
        emit CycleReversed(account, number, amount, line.score, _next(account));
    }

    /// @dev Returns the debt to the open cycle or a new one, with its original age.
    function _reopen(address account, Line storage line, ClosedCycle storage closed) private {
        // guard: restored debt keeps its due date in a new cycle
        if (line.openedAt == 0) return _open(account, line, closed.openedAt, closed.dueAt);
        // guard: restored debt counts in an open cycle from its restoration
        _count(line);
        if (closed.openedAt >= line.openedAt && closed.dueAt >= line.dueAt) return;
        if (closed.openedAt < line.openedAt) line.openedAt = closed.openedAt;
        // guard: restored debt brings its due date into an open cycle
        if (closed.dueAt < line.dueAt) line.dueAt = closed.dueAt;
        uint256 number = _openNumber(line);
        emit CycleRedated(account, number, line.openedAt, _dueAt(line), _next(account));
    }

    /// @dev Extends a hold that has not ended. The reward of its cycle waits for the last end.
    function _extend(bytes32 ref) internal {
        uint256 until = _extendPayment(ref);
        Payment storage payment = _paymentOf(ref);
        if (payment.repaid == 0) return;
        (address account, uint256 number) = (payment.account, payment.cycle);
        Line storage line = _lineOf(account);
        if (_isOpen(line, number)) {
            // guard: an extended hold of an open cycle delays its reward
            if (until > line.heldUntil) line.heldUntil = uint40(until);
            return;
        }
        ClosedCycle storage closed = _closedCycles[account][number];
        // guard: an extension that ends earlier moves no ratio reward
        if (closed.openedAt == 0 || until <= closed.heldUntil) return;
        // guard: the ratio reward moves with an extended hold
        if (closed.scoreGiven > 0 && !closed.reversed) {
            _bucketOf(line, closed.heldUntil).rewards--;
            _bucketOf(line, until).rewards++;
        }
        closed.heldUntil = uint40(until);
    }

    /// @dev Seizes the collateral of an account. Debt that remains stays without a cycle.
    function _default(address account) internal {
        Line storage line = _lineOf(account);
        if (line.defaulted) revert AccountDefaulted(account);
        if (line.openedAt == 0) revert NothingOwed(account);
        // guard: a default waits until every payment made in the grace can have been recorded
        if (block.timestamp <= _defaultsAt(line) + RECORDING_MAX) revert TermNotPassed(account);
        (uint256 seized,) = _seizeForDebt(line);
        line.totalRepaid += uint112(seized);
        line.defaulted = true;
        // guard: a default takes the score
        line.score = 0;
        // guard: a default takes the ratio
        line.ratioBps = uint16(_initialRatioBps);
        emit DefaultMarked(account, _openNumber(line), seized, line.drawn, _next(account));
        _closeCycle(account, line, Outcome.Defaulted);
    }

    /// @dev Turns collateral into liquidity and reduces the debt by its value. Held collateral
    /// stays: what is not held covers debt and encumbered debt, and more may be seized later.
    function _seizeForDebt(Line storage line) internal returns (uint256 amount, uint256 shares) {
        _fold(line);
        uint256 drawn = line.drawn;
        shares = _sharesOfAusdCeil(drawn);
        if (shares > line.shares) shares = line.shares;
        amount = _ausdOfSharesFloor(shares);
        if (amount > drawn) amount = drawn;
        line.shares -= uint112(shares);
        line.drawn = uint104(drawn - amount);
        _burnShares(shares, amount);
        _addLiquidity(amount);
    }

    function _closeCycle(address account, Line storage line, Outcome outcome) private {
        emit CycleClosed(
            account,
            _openNumber(line),
            uint8(outcome),
            line.peakDrawn,
            line.totalRepaid,
            line.score,
            _ratioBpsOf(line, 0),
            _next(account)
        );
        line.cyclesClosed++;
        // guard: a mark of a cycle ends with it
        (line.openedAt, line.reversed, line.heldUntil) = (0, false, 0);
        (line.peakDrawn, line.totalRepaid) = (0, 0);
    }
}
