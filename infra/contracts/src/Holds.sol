// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Buckets} from "./Buckets.sol";
import {LendingPool} from "./LendingPool.sol";

/// @title Accounts, and payments that their payer can still reverse
/// @notice A held payment is kept by its ref until it can no longer be revoked, and its amounts are
/// summed in the account's bucket for that time. Views count freed buckets exactly; calls that use
/// them fold them into the account first, all in one pass.
abstract contract Holds is LendingPool {
    using SafeCast for uint256;
    using Buckets for Bucket[16];

    /// @notice Maximum total extension of a hold, rounded up to a possible end.
    uint256 internal constant EXTENSION_MAX = 1 days;
    /// @dev Longest extension by one call.
    uint256 private constant EXTENSION = 1 hours;

    /// @dev A payment under its ref. Payments that were never held have only the content.
    struct Payment {
        /// Content hash, see `contentOf`.
        bytes32 content;
        address account;
        uint40 until;
        /// Total extension to date, in seconds.
        uint24 extendedSeconds;
        /// Cycle in which the payment counted; 0 for none.
        uint32 cycle;
        /// Amounts that are not revoked: repaid debt and collateral in AUSD, and the shares of that
        /// collateral.
        uint72 repaid;
        uint72 collateral;
        uint104 shares;
        bool isRepayment;
    }

    /// @dev Returns the page of an account or a payment. Its fields are consecutive words of one
    /// page of 128, the unit by which Monad charges for storage (MIP-8,
    /// https://mips.monad.xyz/MIPs/MIP-8).
    function _pageOf(bytes32 kind, bytes32 key) private pure returns (bytes32) {
        return keccak256(abi.encode(kind, key)) & ~bytes32(uint256(127));
    }

    function _lineOf(address account) internal pure returns (Line storage line) {
        bytes32 page = _pageOf("account", bytes32(uint256(uint160(account))));
        assembly ("memory-safe") {
            line.slot := page
        }
    }

    function _paymentOf(bytes32 ref) internal pure returns (Payment storage payment) {
        bytes32 page = _pageOf("payment", ref);
        assembly ("memory-safe") {
            payment.slot := page
        }
    }

    /// @dev Numbers an event of an account.
    function _next(address account) internal returns (uint256) {
        _lineOf(account).events++;
        return _next();
    }

    function _bucketOf(Line storage line, uint256 until) internal view returns (Bucket storage) {
        return line.buckets.find(until, _step);
    }

    function _holdUntil() internal view returns (uint256) {
        return Buckets.endOf(block.timestamp + _holdSeconds, _step);
    }

    function _isHeld(Payment storage payment) internal view returns (bool) {
        return payment.until > block.timestamp
            && uint256(payment.repaid) + payment.collateral > 0;
    }

    /// @dev Returns the ratio in effect after `rewards` more rewards.
    function _ratioBpsOf(Line storage line, uint256 rewards) internal view virtual returns (uint256);

    /// @dev Adds freed shares and rewards to the account's own.
    function _credit(Line storage line, uint256 shares, uint256 rewards) private {
        if (shares > 0) line.shares += shares.toUint112();
        if (rewards > 0) line.ratioBps = _ratioBpsOf(line, rewards).toUint16();
    }

    /// @dev Folds everything freed into the account. Returns the debt that is still encumbered.
    function _fold(Line storage line) internal returns (uint256 encumbered) {
        Buckets.Sums memory sums = line.buckets.survey();
        if (sums.shares + sums.repaid + sums.rewards > 0) {
            line.buckets.clearFreed();
            _credit(line, sums.shares, sums.rewards);
        }
        return sums.heldRepaid;
    }

    /// @dev Adds to the bucket of `until`, after crediting what an earlier end left in its place.
    function _hold(Line storage line, uint256 until, uint256 shares, uint256 repaid) private {
        Bucket storage bucket = _bucketOf(line, until);
        if (bucket.until != until) {
            _credit(line, bucket.shares, bucket.rewards);
            (bucket.until, bucket.shares, bucket.repaid, bucket.rewards) = (uint40(until), 0, 0, 0);
        }
        bucket.shares += shares.toUint104();
        bucket.repaid += repaid.toUint96();
    }

    function _release(Line storage line, uint256 until, uint256 shares, uint256 repaid) private {
        Bucket storage bucket = _bucketOf(line, until);
        bucket.shares -= shares.toUint104();
        bucket.repaid -= repaid.toUint96();
    }

    /// @dev Holds a repayment. `repaid` may be 0, because a payment that is all excess is held too.
    function _holdRepayment(bytes32 ref, address account, uint256 repaid, uint256 cycle) internal {
        Line storage line = _lineOf(account);
        Payment storage payment = _paymentOf(ref);
        uint256 until = _holdUntil();
        (payment.account, payment.until) = (account, uint40(until));
        (payment.repaid, payment.isRepayment) = (repaid.toUint72(), true);
        if (repaid > 0) {
            payment.cycle = uint32(cycle);
            _hold(line, until, 0, repaid);
            _holdLiquidity(repaid, until);
            line.heldUntil = uint40(until);
        }
        emit RepaymentHeld(ref, account, repaid, until, _next(account));
    }

    /// @dev Holds a top-up, or the excess of a held repayment.
    function _holdCollateral(bytes32 ref, address account, uint256 amount, uint256 shares)
        internal
        returns (uint256 until)
    {
        Payment storage payment = _paymentOf(ref);
        until = _holdUntil();
        (payment.account, payment.until) = (account, uint40(until));
        (payment.collateral, payment.shares) = (amount.toUint72(), shares.toUint104());
        _hold(_lineOf(account), until, shares, 0);
    }

    /// @dev Revokes `amount` of the collateral. Its shares are burned, and their value above
    /// `amount` stays with the other shares, so the treasury gets back exactly what it paid.
    function _revokeCollateral(bytes32 ref, uint256 amount) internal {
        Payment storage payment = _paymentOf(ref);
        address account = payment.account;
        uint256 whole = payment.collateral;
        uint256 shares = (uint256(payment.shares) * amount + whole - 1) / whole;
        // guard: an amount of a payment is revoked once
        payment.collateral = uint72(whole - amount);
        payment.shares -= uint104(shares);
        _release(_lineOf(account), payment.until, shares, 0);
        // guard: a revoked payment returns its amount and not the value of its shares
        _burnShares(shares, amount);
        emit TopUpRevoked(ref, account, amount, shares, _next(account));
    }

    /// @dev Revokes `amount` of the repaid debt.
    function _revokeRepaid(Payment storage payment, uint256 amount) internal {
        payment.repaid -= uint72(amount);
        _release(_lineOf(payment.account), payment.until, 0, amount);
        _takeHeldLiquidity(amount, payment.until);
    }

    /// @dev Extends the hold by an hour, or by a hold's length if that is less, at most a day in
    /// total.
    function _extendPayment(bytes32 ref) internal returns (uint256 until) {
        Payment storage payment = _paymentOf(ref);
        uint256 before = payment.until;
        uint256 most = before - payment.extendedSeconds + Buckets.endOf(EXTENSION_MAX, _step);
        until = block.timestamp + (_holdSeconds < EXTENSION ? _holdSeconds : EXTENSION);
        until = Buckets.endOf(until, _step);
        if (until > most) until = most;
        if (until <= before) revert HoldNotExtendable(ref);
        Line storage line = _lineOf(payment.account);
        (uint256 shares, uint256 repaid) = (payment.shares, payment.repaid);
        _release(line, before, shares, repaid);
        _hold(line, until, shares, repaid);
        if (repaid > 0) {
            _takeHeldLiquidity(repaid, before);
            _holdLiquidity(repaid, until);
        }
        payment.until = uint40(until);
        payment.extendedSeconds += uint24(until - before);
        emit HoldExtended(ref, payment.account, until, _next(payment.account));
    }
}
