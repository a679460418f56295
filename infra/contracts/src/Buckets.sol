// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CreditLineTypes} from "./CreditLineTypes.sol";

/// @title Held amounts, summed by the time at which they are freed
/// @notice A hold ends at a multiple of a fifteenth of its length, rounded up. Ends that are still
/// ahead are therefore at most sixteen different ones, and each has a place of its own in the ring:
/// an amount whose place is needed again has been freed. No history of an account costs more.
library Buckets {
    uint256 internal constant COUNT = 16;
    uint256 private constant STEPS = COUNT - 1;

    /// @dev Returns the distance between two possible ends, in seconds.
    function stepOf(uint256 holdSeconds) internal pure returns (uint256) {
        return holdSeconds < STEPS ? 1 : (holdSeconds + STEPS - 1) / STEPS;
    }

    /// @dev Returns the earliest possible end that is not before `time`.
    function endOf(uint256 time, uint256 step) internal pure returns (uint256) {
        return (time + step - 1) / step * step;
    }

    /// @dev Finds the bucket of an end that is ahead or already in the ring.
    function find(CreditLineTypes.Bucket[COUNT] storage buckets, uint256 until, uint256 step)
        internal
        view
        returns (CreditLineTypes.Bucket storage)
    {
        return buckets[until / step % COUNT];
    }

    /// @dev Sums of what was freed and of what is still held. The times are those of the last ends
    /// ahead, 0 if there is none.
    struct Sums {
        uint256 shares;
        uint256 repaid;
        uint256 rewards;
        uint256 heldShares;
        uint256 heldRepaid;
        uint256 sharesUntil;
        uint256 repaidUntil;
    }

    function survey(CreditLineTypes.Bucket[COUNT] storage buckets)
        internal
        view
        returns (Sums memory sums)
    {
        for (uint256 i = 0; i < COUNT; i++) {
            CreditLineTypes.Bucket memory bucket = buckets[i];
            // guard: held collateral counts only after its hold
            // guard: a default seizes no held collateral
            if (bucket.until <= block.timestamp) {
                sums.shares += bucket.shares;
                sums.repaid += bucket.repaid;
                sums.rewards += bucket.rewards;
                continue;
            }
            sums.heldShares += bucket.shares;
            sums.heldRepaid += bucket.repaid;
            if (bucket.shares > 0 && bucket.until > sums.sharesUntil) {
                sums.sharesUntil = bucket.until;
            }
            if (bucket.repaid > 0 && bucket.until > sums.repaidUntil) {
                sums.repaidUntil = bucket.until;
            }
        }
    }

    /// @dev Empties the buckets that `survey` counted as freed. Their ends stay, because on Monad a
    /// word that becomes zero costs as much as a new one when it is used again.
    function clearFreed(CreditLineTypes.Bucket[COUNT] storage buckets) internal {
        for (uint256 i = 0; i < COUNT; i++) {
            CreditLineTypes.Bucket memory bucket = buckets[i];
            // guard: a default seizes no held collateral
            if (bucket.until > block.timestamp) continue;
            if (bucket.shares == 0 && bucket.repaid == 0 && bucket.rewards == 0) continue;
            // guard: a freed bucket is folded once
            buckets[i] = CreditLineTypes.Bucket(bucket.until, 0, 0, 0);
        }
    }
}
