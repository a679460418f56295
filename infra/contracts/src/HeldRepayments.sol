// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {HeldLots} from "./HeldLots.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title Repayments with money that its payer can still reverse, and the lending pool
/// @notice Two queues. The repaid amount stays encumbered in the account's queue and frees none of
/// the limit until it matures. The AUSD waits in the pool's queue and is not lent until it matures;
/// since that queue is shared, an inactive account cannot keep it there longer.
abstract contract HeldRepayments is HeldLots {
    using SafeCast for uint256;
    using HoldQueue for HoldQueue.Hold;

    /// @dev One storage word, read and written by every draw and repayment.
    struct Pool {
        /// Available to draw.
        uint96 free;
        /// Held, or matured but not folded.
        uint80 held;
        uint40 head;
        uint40 tail;
    }

    struct HeldLiquidity {
        uint40 until;
        uint104 amount;
    }

    /// @dev Matured entries folded by each new entry, so that the queue cannot grow without bound.
    uint256 private constant FOLDS_PER_HOLD = 2;

    Pool internal _pool;
    mapping(uint256 position => HeldLiquidity) private _heldLiquidity;
    mapping(address account => mapping(uint256 index => HoldQueue.Hold)) internal _repayments;

    /// @dev AUSD in the lending pool that can be drawn, including matured repayments.
    function _liquidity() internal view returns (uint256 amount) {
        Pool memory pool = _pool;
        amount = pool.free;
        for (uint256 next = pool.head; next < pool.tail; next++) {
            HeldLiquidity memory one = _heldLiquidity[next];
            if (one.until > block.timestamp) break;
            amount += one.amount;
        }
    }

    function _addLiquidity(uint256 amount) internal {
        _pool.free += amount.toUint96();
    }

    /// @dev Takes AUSD out of the pool, folding at most `most` matured repayments if it is short.
    function _takeLiquidity(uint256 amount, uint256 most) internal {
        if (amount > _pool.free) {
            _foldLiquidity(most);
            uint256 free = _pool.free;
            if (amount > free) {
                if (amount <= _liquidity()) revert SettleLiquidityFirst();
                revert InsufficientLiquidity(free, amount);
            }
        }
        _pool.free -= amount.toUint96();
    }

    function _foldLiquidity(uint256 most) internal {
        Pool memory pool = _pool;
        uint256 matured;
        for (; pool.head < pool.tail && most > 0; most--) {
            HeldLiquidity memory one = _heldLiquidity[pool.head];
            if (one.until > block.timestamp) break;
            matured += one.amount;
            pool.head++;
        }
        pool.free += matured.toUint96();
        pool.held -= matured.toUint80();
        _pool = pool;
    }

    /// @dev Appends to the queue; the entry matures no earlier than the one before it.
    function _pushLiquidity(uint256 amount, uint40 until) private returns (uint48 position) {
        _foldLiquidity(FOLDS_PER_HOLD);
        Pool memory pool = _pool;
        position = pool.tail;
        if (position > pool.head) {
            uint40 before = _heldLiquidity[position - 1].until;
            if (before > until) until = before;
        }
        _heldLiquidity[position] = HeldLiquidity(until, amount.toUint104());
        _pool.tail = pool.tail + 1;
    }

    /// @dev Encumbers the repaid amount. It may be 0, because a ref with only an excess is held
    /// too.
    function _pushRepayment(
        bytes32 ref,
        address account,
        uint256 amount,
        uint40 until,
        uint32 cycle
    ) internal {
        Line storage line = _lines[account];
        uint40 index = line.repaymentTail;
        uint48 position;
        if (amount > 0) {
            _pool.held += amount.toUint80();
            position = _pushLiquidity(amount, until);
            line.encumbered += amount.toUint104();
            line.lastHeld = index + 1;
        }
        _repayments[account][index] = HoldQueue.Hold(
            until, 0, HoldQueue.State.Held, amount.toUint104(), cycle, position
        );
        HoldKey storage key = _holdKeys[ref];
        (key.account, key.repayment) = (account, index + 1);
        line.repaymentTail = index + 1;
        emit RepaymentHeld(ref, account, amount, until);
    }

    /// @dev Frees matured repayments. `rewards` is the number of ratio rewards now due.
    function _foldRepayments(Line storage line, address account, uint256 most)
        internal
        returns (uint256 read, uint256 rewards)
    {
        (uint256 head, uint256 tail) = (line.repaymentHead, line.repaymentTail);
        if (head == tail) return (0, 0);
        uint256 freed;
        uint256 headAfter;
        (headAfter, freed, rewards, read) =
            HoldQueue.fold(_repayments[account], head, tail, most);
        if (headAfter != head) line.repaymentHead = uint40(headAfter);
        if (freed > 0) line.encumbered -= freed.toUint104();
    }

    /// @dev Revokes a held repayment. The caller must send its AUSD to the treasury.
    function _dropRepayment(address account, uint256 index) internal returns (uint256 amount) {
        HoldQueue.Hold storage held = _repayments[account][index];
        held.state = HoldQueue.State.Revoked;
        amount = held.value;
        if (amount == 0) return 0;
        _lines[account].encumbered -= amount.toUint104();
        delete _heldLiquidity[held.position].amount;
        _pool.held -= amount.toUint80();
    }

    /// @dev Extends a held repayment, and its AUSD in the pool's queue.
    function _extendRepayment(bytes32 ref, address account, uint256 index)
        internal
        returns (uint256 until)
    {
        HoldQueue.Hold storage held = _repayments[account][index];
        until = _extend(held, ref);
        uint256 amount = held.value;
        if (amount == 0) return until;
        delete _heldLiquidity[held.position].amount;
        held.position = _pushLiquidity(amount, uint40(until));
    }
}
