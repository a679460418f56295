// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {HeldLots} from "./HeldLots.sol";

/// @title Debt, its cycles, and what they do to score and ratio
/// @notice A cycle opens with the first draw and closes when nothing is owed any more. Paid back
/// within the term it qualifies and is rewarded; sooner than the minimum it is neutral, so that
/// drawing and repaying at once earns nothing.
abstract contract Cycles is HeldLots {
    using SafeCast for uint256;

    uint256 public constant SCORE_REWARD = 10;
    uint256 public constant SCORE_PENALTY = 20;
    uint256 public constant RATIO_REWARD_BPS = 250;
    uint256 public constant RATIO_PENALTY_BPS = 500;
    uint256 public constant RATIO_CAP_BPS = 9_000;

    uint256 public immutable minCycleSeconds;
    uint256 public immutable termSeconds;
    uint256 public immutable graceSeconds;
    uint256 public immutable initialRatioBps;

    /// @notice AUSD of the lending pool that is there to be drawn.
    uint256 public liquidity;

    constructor(Terms memory terms) {
        bool sane = terms.minCycleSeconds <= terms.termSeconds && terms.termSeconds <= 3650 days
            && terms.graceSeconds <= 3650 days && terms.initialRatioBps > 0
            && terms.initialRatioBps <= RATIO_CAP_BPS;
        if (!sane) revert InvalidTerms();
        minCycleSeconds = terms.minCycleSeconds;
        termSeconds = terms.termSeconds;
        graceSeconds = terms.graceSeconds;
        initialRatioBps = terms.initialRatioBps;
    }

    function _ratioBpsOf(Line storage line) internal view returns (uint256) {
        return line.ratioBps == 0 ? initialRatioBps : line.ratioBps;
    }

    /// @dev What `shares` let the account owe, rounded down; nothing after a default.
    function _limitFloor(Line storage line, uint256 shares) internal view returns (uint256) {
        if (line.defaulted) return 0;
        return ausdOfSharesFloor(shares) * _ratioBpsOf(line) / 10_000;
    }

    function _addDebt(address account, uint256 amount) internal returns (uint256 drawnAfter) {
        Line storage line = _lines[account];
        if (line.openedAt == 0) {
            line.openedAt = block.timestamp.toUint40();
            emit CycleOpened(account, uint256(line.cyclesClosed) + 1);
        } else if (block.timestamp > line.openedAt + termSeconds) {
            revert TermPassed(account);
        }
        if (amount > liquidity) revert InsufficientLiquidity(liquidity, amount);
        liquidity -= amount;
        drawnAfter = line.drawn + amount;
        line.drawn = drawnAfter.toUint112();
        if (drawnAfter > line.peakDrawn) line.peakDrawn = drawnAfter.toUint128();
    }

    /// @dev `amount` is at most the debt, and reaches the lending pool by the caller's doing.
    function _subtractDebt(bytes32 ref, address account, address payer, uint256 amount) internal {
        Line storage line = _lines[account];
        uint256 drawnAfter = line.drawn - amount;
        line.drawn = drawnAfter.toUint112();
        line.totalRepaid += amount.toUint128();
        liquidity += amount;
        emit Repaid(ref, account, payer, amount, drawnAfter);
        if (drawnAfter == 0 && line.openedAt != 0) _closeRepaid(account, line);
    }

    function _closeRepaid(address account, Line storage line) private {
        uint256 age = block.timestamp - line.openedAt;
        uint256 ratioBps = _ratioBpsOf(line);
        if (age > termSeconds) {
            line.score = line.score > SCORE_PENALTY ? uint32(line.score - SCORE_PENALTY) : 0;
            bool floored = ratioBps < initialRatioBps + RATIO_PENALTY_BPS;
            line.ratioBps =
                (floored ? initialRatioBps : ratioBps - RATIO_PENALTY_BPS).toUint16();
            _closeCycle(account, line, Outcome.Late);
        } else if (age < minCycleSeconds) {
            _closeCycle(account, line, Outcome.Short);
        } else {
            line.score += uint32(SCORE_REWARD);
            bool capped = ratioBps + RATIO_REWARD_BPS > RATIO_CAP_BPS;
            line.ratioBps = (capped ? RATIO_CAP_BPS : ratioBps + RATIO_REWARD_BPS).toUint16();
            _closeCycle(account, line, Outcome.Qualified);
        }
    }

    /// @dev Seizes what collateral there is; the rest of the debt stays, without a cycle.
    function _default(address account) internal {
        Line storage line = _lines[account];
        if (line.defaulted) revert AccountDefaulted(account);
        if (line.openedAt == 0) revert NothingOwed(account);
        if (block.timestamp <= line.openedAt + termSeconds + graceSeconds) {
            revert TermNotPassed(account);
        }
        (uint256 seized,) = _seizeForDebt(account, LOTS_PER_CALL);
        line.defaulted = true;
        line.score = 0;
        line.ratioBps = initialRatioBps.toUint16();
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
        line.drawn -= amount.toUint112();
        line.totalRepaid += amount.toUint128();
        liquidity += amount;
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
            _ratioBpsOf(line)
        );
        line.cyclesClosed = number;
        line.openedAt = 0;
        (line.peakDrawn, line.totalRepaid) = (0, 0);
    }
}
