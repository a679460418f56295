// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CollateralPool} from "./CollateralPool.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title Collateral paid with money that its payer can still reverse
/// @notice One queue of lots per account. Views count matured lots exactly; state-changing calls
/// fold a bounded number of them into `shares` first, and `settleLots` folds the rest.
abstract contract HeldLots is CollateralPool {
    using SafeCast for uint256;
    using HoldQueue for HoldQueue.Hold;

    /// @dev Maximum holds that one call folds, or lots that it seizes. 12, because with 16 `draw`
    /// took 406,859 gas at Monad's prices and apps send 400,000.
    uint256 internal constant FOLDS_PER_CALL = 12;
    /// @dev Length of a hold before any extension.
    uint256 internal immutable _holdSeconds;

    /// @dev Holds of a ref: position + 1 in the account's queues, 0 for none.
    struct HoldKey {
        address account;
        uint48 lot;
        uint48 repayment;
    }

    mapping(address account => mapping(uint256 index => HoldQueue.Hold)) internal _lots;
    mapping(bytes32 ref => HoldKey) internal _holdKeys;

    constructor(uint256 holdSeconds_) {
        if (holdSeconds_ > 365 days) revert InvalidTerms();
        _holdSeconds = holdSeconds_;
    }

    function _holdUntil() internal view returns (uint40) {
        return (block.timestamp + _holdSeconds).toUint40();
    }

    function _pushLot(bytes32 ref, address account, uint128 shares, uint40 until) internal {
        Line storage line = _lines[account];
        uint40 index = line.lotTail;
        _lots[account][index] =
            HoldQueue.Hold(until, 0, HoldQueue.State.Held, uint256(shares).toUint104(), 0, 0);
        HoldKey storage key = _holdKeys[ref];
        (key.account, key.lot) = (account, index + 1);
        line.lotTail = index + 1;
        line.pendingShares += shares;
    }

    /// @return read Number of lots examined.
    function _foldLots(Line storage line, address account, uint256 most)
        internal
        returns (uint256 read)
    {
        (uint256 head, uint256 tail) = (line.lotHead, line.lotTail);
        if (head == tail) return 0;
        uint256 matured;
        uint256 headAfter;
        (headAfter, matured,, read) = HoldQueue.fold(_lots[account], head, tail, most);
        if (headAfter != head) line.lotHead = uint40(headAfter);
        if (matured == 0) return read;
        line.shares += matured.toUint128();
        line.pendingShares -= matured.toUint128();
    }

    /// @dev Burns a held lot. The caller must send its value to the treasury.
    function _revokeLot(bytes32 ref, address account, uint256 index)
        internal
        returns (uint256 value)
    {
        HoldQueue.Hold storage lot = _lots[account][index];
        uint256 shares = lot.value;
        value = _ausdOfSharesFloor(shares);
        lot.state = HoldQueue.State.Revoked;
        _lines[account].pendingShares -= shares.toUint128();
        _burnShares(shares, value);
        emit TopUpRevoked(ref, account, value, shares);
    }

    /// @dev Extends a hold that has not matured. Reverts if it cannot be extended.
    function _extend(HoldQueue.Hold storage hold, bytes32 ref) internal returns (uint256 until) {
        HoldQueue.Hold memory before = hold;
        until = before.extended(_holdSeconds);
        if (until <= before.until) revert HoldNotExtendable(ref);
        hold.until = until.toUint40();
        hold.extendedSeconds = uint24(before.extendedSeconds + until - before.until);
    }

    /// @dev Seizes collateral worth up to `wanted` AUSD: matured shares, then lots in order. If all
    /// of it is needed, takes all lots at once; otherwise at most `lotsMax` lots.
    function _seize(address account, uint256 wanted, uint256 lotsMax)
        internal
        returns (uint256 amount, uint256 shares)
    {
        Line storage line = _lines[account];
        uint256 needed = _sharesOfAusdCeil(wanted);
        uint256 owned = uint256(line.shares) + line.pendingShares;
        if (owned <= needed) {
            shares = owned;
            (line.shares, line.pendingShares, line.lotHead) = (0, 0, line.lotTail);
        } else if (line.shares >= needed) {
            shares = needed;
            line.shares -= needed.toUint128();
        } else {
            shares = line.shares;
            line.shares = 0;
            shares += _seizeLots(account, needed - shares, lotsMax);
        }
        amount = _ausdOfSharesFloor(shares);
        if (amount > wanted) amount = wanted;
        _burnShares(shares, amount);
    }

    function _seizeLots(address account, uint256 needed, uint256 lotsMax)
        private
        returns (uint256 taken)
    {
        Line storage line = _lines[account];
        uint256 next = line.lotHead;
        uint256 end = line.lotTail;
        if (end - next > lotsMax) end = next + lotsMax;
        for (; next < end && taken < needed; next++) {
            HoldQueue.Hold storage lot = _lots[account][next];
            if (lot.state != HoldQueue.State.Held) continue;
            if (lot.value > needed - taken) {
                lot.value -= (needed - taken).toUint104();
                taken = needed;
                break;
            }
            taken += lot.value;
        }
        line.lotHead = uint40(next);
        line.pendingShares -= taken.toUint128();
    }
}
