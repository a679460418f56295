// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title A first-in first-out queue of held amounts
/// @notice A hold matures by the clock alone. Every hold lasts equally long, so they mature in the
/// order they came, but for those that were extended.
/// @dev `head` and `tail` are its account's: what lies before `head` was folded or seized.
library HoldQueue {
    enum State { None, Held, HeldWithReward, Released, Revoked }

    /// @dev One word, because folding reads many. `cycle` and `position` are of repayments alone:
    /// the cycle it counted in, and its position in the queue of held liquidity.
    struct Hold {
        uint40 until;
        /// By how many seconds its end was put off.
        uint24 extendedSeconds;
        State state;
        uint104 value;
        uint32 cycle;
        uint48 position;
    }

    /// @notice The longest that one hold can be put off in all.
    uint256 internal constant EXTENSION_MAX = 1 days;

    function isHeld(Hold memory hold, uint256 index, uint256 head) internal view returns (bool) {
        return (hold.state == State.Held || hold.state == State.HeldWithReward)
            && hold.until > block.timestamp && index >= head;
    }

    /// @dev Folds what has matured among the first `most` holds. A hold that was extended is left
    /// where it is and passed over.
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

    /// @dev What has matured and was not folded, its rewards, and when the last of the rest matures.
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

    /// @dev When it ends if put off now; no later than it may be.
    function extended(Hold memory hold, uint256 holdSeconds) internal view returns (uint256 until) {
        until = block.timestamp + (holdSeconds < 1 hours ? holdSeconds : 1 hours);
        uint256 most = uint256(hold.until) - hold.extendedSeconds + EXTENSION_MAX;
        if (until > most) until = most;
    }
}
