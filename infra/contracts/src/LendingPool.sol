// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Buckets} from "./Buckets.sol";
import {CollateralPool} from "./CollateralPool.sol";

/// @title AUSD that is lent, and the number of events
/// @notice AUSD of a held repayment is in the pool, but is not lent before its hold ends.
abstract contract LendingPool is CollateralPool {
    using SafeCast for uint256;
    using Buckets for Bucket[16];

    /// @dev Every draw and repayment reads and writes the first storage word, only the end of a cycle reads
    /// the second.
    struct Pool {
        /// AUSD that can be lent, without freed buckets.
        uint96 free;
        /// Number of events of all accounts.
        uint64 sequence;
        /// Total length of the pauses that ended, and start of the current one; 0 if not paused.
        uint40 pausedSeconds;
        uint40 pausedSince;
        /// Start and length of the last pause that ended.
        uint40 lastPausedAt;
        uint40 lastPauseSeconds;
    }

    /// @dev Length of a hold before any extension, and distance between possible ends.
    uint256 internal immutable _holdSeconds;
    uint256 internal immutable _step;

    Pool internal _pool;
    /// @dev Held repayments of all accounts. Only `until` and `repaid` are used.
    Bucket[16] private _heldLiquidity;

    constructor(uint256 holdSeconds_) {
        if (holdSeconds_ > 365 days) revert InvalidTerms();
        _holdSeconds = holdSeconds_;
        _step = Buckets.stepOf(holdSeconds_);
    }

    /// @dev Numbers an event that concerns no account.
    function _next() internal returns (uint256) {
        return ++_pool.sequence;
    }

    /// @dev Returns the AUSD in the lending pool that can be drawn.
    function _liquidity() internal view returns (uint256) {
        // guard: held AUSD is not lent
        return _pool.free + _heldLiquidity.survey().repaid;
    }

    /// @dev Returns the AUSD in the lending pool, held repayments included.
    function _poolBalance() internal view returns (uint256) {
        Buckets.Sums memory sums = _heldLiquidity.survey();
        return _pool.free + sums.repaid + sums.heldRepaid;
    }

    function _addLiquidity(uint256 amount) internal {
        _pool.free += amount.toUint96();
    }

    function _takeLiquidity(uint256 amount) internal {
        if (amount > _pool.free) {
            // guard: held AUSD is not lent
            _pool.free += _heldLiquidity.survey().repaid.toUint96();
            _heldLiquidity.clearFreed();
            if (amount > _pool.free) revert InsufficientLiquidity(_pool.free, amount);
        }
        _pool.free -= amount.toUint96();
    }

    function _holdLiquidity(uint256 amount, uint256 until) internal {
        Bucket storage bucket = _heldLiquidity.find(until, _step);
        if (bucket.until != until) {
            _pool.free += bucket.repaid;
            (bucket.until, bucket.repaid) = (uint40(until), 0);
        }
        bucket.repaid += amount.toUint96();
    }

    /// @dev Takes out AUSD that is held until `until`.
    function _takeHeldLiquidity(uint256 amount, uint256 until) internal {
        _heldLiquidity.find(until, _step).repaid -= amount.toUint96();
    }
}
