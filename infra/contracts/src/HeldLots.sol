// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CollateralPool} from "./CollateralPool.sol";

/// @title Held top-ups, a first-in first-out queue per account
/// @notice A lot matures by the clock alone. Views count matured lots exactly; state-changing calls
/// fold at most `LOTS_PER_CALL` of them into `shares` first, and `settleLots` folds the rest.
/// @dev The hold is the same for every lot, so `until` never falls along the queue and the matured
/// lots are always at its head. Lots before `lotHead` were folded or seized.
abstract contract HeldLots is CollateralPool {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @notice Lots a state-changing call folds or seizes at most.
    uint256 public constant LOTS_PER_CALL = 16;
    /// @notice How long a held top-up stays revocable.
    uint256 public immutable holdSeconds;

    struct LotKey {
        address account;
        uint64 index;
    }

    mapping(address account => mapping(uint256 index => Lot)) private _lots;
    mapping(bytes32 ref => LotKey) private _lotKeys;

    constructor(uint256 holdSeconds_) {
        if (holdSeconds_ > 365 days) revert InvalidTerms();
        holdSeconds = holdSeconds_;
    }

    /// @notice The lot of a held top-up; all zero if `ref` names none.
    /// @return account Owner of the lot.
    /// @return amount AUSD that was paid for it.
    /// @return shares Shares it holds, less any seized from it.
    /// @return until When it matures.
    /// @return state Where it stands at the time of the block.
    function lotOf(bytes32 ref)
        external
        view
        returns (address account, uint256 amount, uint256 shares, uint256 until, LotState state)
    {
        LotKey memory key = _lotKeys[ref];
        Lot memory lot = _lots[key.account][key.index];
        if (key.account == address(0)) return (account, amount, shares, until, state);
        state = lot.state == LotState.Held && !_isHeld(key, lot) ? LotState.Released : lot.state;
        return (key.account, lot.amount, lot.shares, lot.until, state);
    }

    /// @notice Folds up to `lotsMax` matured lots of `account`; anybody may help.
    function settleLots(address account, uint256 lotsMax) external nonReentrant {
        _foldLots(account, lotsMax);
    }

    function _pushLot(bytes32 ref, address account, uint256 amount, uint128 shares)
        internal
        returns (uint40 until)
    {
        Line storage line = _lines[account];
        uint64 index = line.lotTail;
        until = (block.timestamp + holdSeconds).toUint40();
        _lots[account][index] = Lot(until, LotState.Held, amount.toUint80(), shares);
        _lotKeys[ref] = LotKey(account, index);
        line.lotTail = index + 1;
        line.pendingShares += shares;
    }

    function _foldLots(address account, uint256 lotsMax) internal {
        Line storage line = _lines[account];
        uint256 head = line.lotHead;
        uint256 end = line.lotTail;
        if (head == end) return;
        if (end - head > lotsMax) end = head + lotsMax;
        uint128 matured = 0;
        uint256 next = head;
        for (; next < end; next++) {
            Lot memory lot = _lots[account][next];
            if (lot.state == LotState.Revoked) continue;
            if (lot.until > block.timestamp) break;
            matured += lot.shares;
        }
        if (next == head) return;
        line.lotHead = uint64(next);
        line.shares += matured;
        line.pendingShares -= matured;
    }

    /// @dev True while matured lots wait in the queue: a refusal for want of shares may be early.
    function _hasMaturedLots(address account) internal view returns (bool) {
        Line storage line = _lines[account];
        return line.lotHead < line.lotTail
            && _lots[account][line.lotHead].until <= block.timestamp;
    }

    /// @dev Matured shares waiting in the queue, and when the last lot still held matures.
    function _queueOf(address account) internal view returns (uint256 matured, uint256 until) {
        Line storage line = _lines[account];
        uint256 tail = line.lotTail;
        uint256 next = line.lotHead;
        for (; next < tail; next++) {
            Lot memory lot = _lots[account][next];
            if (lot.until > block.timestamp) break;
            if (lot.state != LotState.Revoked) matured += lot.shares;
        }
        for (; tail > next; tail--) {
            Lot memory lot = _lots[account][tail - 1];
            if (lot.state != LotState.Revoked) return (matured, lot.until);
        }
    }

    /// @dev Burns a held lot and returns its value to the treasury; quiet if that was done before.
    function _revokeLot(bytes32 ref) internal {
        LotKey memory key = _lotKeys[ref];
        Lot storage lot = _lots[key.account][key.index];
        if (key.account == address(0)) revert NotHeld(ref);
        if (lot.state == LotState.Revoked) {
            emit AlreadyApplied(ref);
            return;
        }
        if (!_isHeld(key, lot)) revert NotHeld(ref);
        uint128 shares = lot.shares;
        uint256 value = ausdOfSharesFloor(shares);
        lot.state = LotState.Revoked;
        _lines[key.account].pendingShares -= shares;
        _burnShares(shares, value);
        emit TopUpRevoked(ref, key.account, value, shares);
        token.safeTransfer(treasury, value);
    }

    /// @dev Takes collateral worth up to `wanted` AUSD: matured shares, then lots in order. If
    /// all of it is needed it goes at once however many lots there are; if only a part is, at most
    /// `lotsMax` lots are taken.
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
        amount = ausdOfSharesFloor(shares);
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
            Lot storage lot = _lots[account][next];
            if (lot.state == LotState.Revoked) continue;
            if (lot.shares > needed - taken) {
                lot.shares -= (needed - taken).toUint128();
                taken = needed;
                break;
            }
            taken += lot.shares;
        }
        line.lotHead = uint64(next);
        line.pendingShares -= taken.toUint128();
    }

    function _isHeld(LotKey memory key, Lot memory lot) private view returns (bool) {
        return lot.state == LotState.Held && lot.until > block.timestamp
            && key.index >= _lines[key.account].lotHead;
    }
}
