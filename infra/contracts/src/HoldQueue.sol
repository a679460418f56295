// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title First-in, first-out queue of held amounts
/// @notice A hold matures by time alone. All holds have the same length, so they mature in order,
/// except extended ones.
/// @dev `head` and `tail` are stored with the account; entries before `head` were folded or seized.
library HoldQueue {
    enum State { None, Held, HeldWithReward, Released, Revoked }

    /// @dev One storage word, because folding reads many. Repayments only: `cycle` is the cycle it
    /// counted in, `position` its place in the queue of held liquidity.
    struct Hold {
        uint40 until;
        /// Total extension to date, in seconds.
        uint24 extendedSeconds;
        State state;
        uint104 value;
        uint32 cycle;
        uint48 position;
    }

    /// @notice Maximum total extension of a hold.
    uint256 internal constant EXTENSION_MAX = 1 days;

    function isHeld(Hold memory hold, uint256 index, uint256 head) internal view returns (bool) {
        return (hold.state == State.Held || hold.state == State.HeldWithReward)
            && hold.until > block.timestamp && index >= head;
    }

    /// @dev Folds the matured ones of the first `most` holds. An extended hold that has not matured
    /// is skipped and keeps its place.
    function fold(
        mapping(uint256 index => Hold) storage holds,
        uint256 head,
        uint256 tail,
        uint256 most
    ) internal returns (uint256 headAfter, uint256 value, uint256 rewards, uint256 read) {
        headAfter = head;
        for (uint256 next = head; next < tail && read < most; next++) {
            Hold memory hold = holds[next];
            read++;
            if (hold.state == State.Held || hold.state == State.HeldWithReward) {
                if (hold.until > block.timestamp) {
                    if (hold.extendedSeconds == 0) break;
                    continue;
                }
                value += hold.value;
                if (hold.state == State.HeldWithReward) rewards++;
                if (next != headAfter) holds[next].state = State.Released;
            }
            if (next == headAfter) headAfter++;
        }
    }

    /// @dev Returns the matured, unfolded amount, its rewards, and when the last other hold
    /// matures.
    function survey(mapping(uint256 index => Hold) storage holds, uint256 head, uint256 tail)
        internal
        view
        returns (uint256 matured, uint256 rewards, uint256 until)
    {
        for (uint256 next = head; next < tail; next++) {
            Hold memory hold = holds[next];
            if (hold.state != State.Held && hold.state != State.HeldWithReward) continue;
            if (hold.until > block.timestamp) {
                if (hold.until > until) until = hold.until;
                continue;
            }
            matured += hold.value;
            if (hold.state == State.HeldWithReward) rewards++;
        }
    }

    /// @dev Returns the end of the hold if extended now, within the maximum.
    function extended(Hold memory hold, uint256 holdSeconds) internal view returns (uint256 until) {
        until = block.timestamp + (holdSeconds < 1 hours ? holdSeconds : 1 hours);
        uint256 most = uint256(hold.until) - hold.extendedSeconds + EXTENSION_MAX;
        if (until > most) until = most;
    }
}
