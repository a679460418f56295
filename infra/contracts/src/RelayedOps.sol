// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CreditLineBase} from "./CreditLineBase.sol";

/// @title Relayer operations with the treasury's AUSD, applied at most once per reference
/// @notice A `ref` permanently identifies one payment. Repeating the same content changes nothing,
/// so the relayer may resend from any key at any time; other content is refused.
/// @dev Revoking and extending work during a pause; crediting and repaying do not.
abstract contract RelayedOps is CreditLineBase {
    using SafeERC20 for IERC20;

    uint8 internal constant KIND_TOP_UP = 0;
    uint8 internal constant KIND_HELD_TOP_UP = 1;
    uint8 internal constant KIND_REPAY_FOR = 2;
    uint8 internal constant KIND_REVOKE_TOP_UP = 3;
    uint8 internal constant KIND_HELD_REPAY_FOR = 4;
    uint8 internal constant KIND_REVOKE_REPAYMENT = 5;
    uint8 internal constant KIND_EXTEND_HOLD = 6;

    /// @notice Gas required before each operation of `many`. It is more than any operation uses, so
    /// a short gas limit reverts the batch and cannot look like a failed operation.
    uint256 public constant OP_GAS_FLOOR = 300_000;

    /// @notice Returns the content hash applied under a ref, as `contentOf` computes it; 0 if the
    /// ref is unused.
    function refUsed(bytes32 ref) external view returns (bytes32) {
        return _paymentOf(ref).content;
    }

    /// @notice Returns the content hash of an operation. `kind` is as in `Op`.
    function contentOf(uint8 kind, address account, uint256 amount, uint64 paidAt)
        public
        pure
        returns (bytes32)
    {
        // guard: the time of payment belongs to the content of a ref
        return keccak256(abi.encode(kind, account, amount, paidAt));
    }

    /// @notice Credits treasury AUSD as collateral of `account`, held for `holdSeconds` if `held`.
    function topUp(bytes32 ref, address account, uint256 amount, bool held)
        external
        // guard: only the relayer spends the treasury's allowance
        onlyRole(RELAYER_ROLE)
        nonReentrant
    {
        _topUp(ref, account, amount, held);
    }

    /// @notice Repays the debt of `account`; any excess becomes its collateral. If `held`, the
    /// repaid amount stays encumbered and the excess pending until the hold ends. `paidAt`, the
    /// time of the payment, decides whether the cycle closed in time.
    function repayFor(bytes32 ref, address account, uint256 amount, bool held, uint64 paidAt)
        external
        onlyRole(RELAYER_ROLE)
        nonReentrant
    {
        _repayFor(ref, account, amount, held, paidAt);
    }

    /// @notice Revokes a held top-up until `left` AUSD of it is left, usually 0; the treasury gets
    /// back the rest. The part that is left keeps its hold and its yield.
    function revokeTopUp(bytes32 ref, uint256 left) external onlyRole(RELAYER_ROLE) nonReentrant {
        _revoke(ref, left, false);
    }

    /// @notice Revokes a held repayment until `left` AUSD of it is left, usually 0; the treasury gets
    /// back the rest, its excess first. The repaid debt is owed again with its original age.
    function revokeRepayment(bytes32 ref, uint256 left)
        external
        onlyRole(RELAYER_ROLE)
        nonReentrant
    {
        _revoke(ref, left, true);
    }

    /// @notice Extends a hold to one hour from now, or to `holdSeconds` if that is less; at most a
    /// day in total. Each end is rounded up, see `Buckets`.
    function extendHold(bytes32 ref) external onlyRole(RELAYER_ROLE) nonReentrant {
        _extendHold(ref);
    }

    /// @notice Runs the operations in order. An operation that reverts only emits `OpFailed`.
    function many(Op[] calldata ops) external onlyRole(RELAYER_ROLE) nonReentrant {
        for (uint256 i = 0; i < ops.length; i++) {
            // guard: a batch that runs out of gas reports no operation as failed
            if (gasleft() < OP_GAS_FLOOR) revert GasTooLow(i);
            try this.applyOp(ops[i]) {}
            catch (bytes memory reason) {
                emit OpFailed(i, ops[i].ref, reason);
            }
        }
    }

    /// @notice Runs one operation of `many`. Only this contract calls it, to isolate a revert.
    function applyOp(Op calldata op) external {
        // guard: an operation of a batch is run only by its batch
        if (msg.sender != address(this)) revert OnlySelf();
        if (op.kind == KIND_TOP_UP) _topUp(op.ref, op.account, op.amount, false);
        else if (op.kind == KIND_HELD_TOP_UP) _topUp(op.ref, op.account, op.amount, true);
        else if (op.kind == KIND_REPAY_FOR || op.kind == KIND_HELD_REPAY_FOR) {
            _repayFor(op.ref, op.account, op.amount, op.kind == KIND_HELD_REPAY_FOR, op.paidAt);
        } else if (op.kind == KIND_REVOKE_TOP_UP || op.kind == KIND_REVOKE_REPAYMENT) {
            _revoke(op.ref, op.amount, op.kind == KIND_REVOKE_REPAYMENT);
        } else if (op.kind == KIND_EXTEND_HOLD) {
            _extendHold(op.ref);
        } else revert UnknownKind(op.kind);
    }

    function _topUp(bytes32 ref, address account, uint256 amount, bool held) private {
        // guard: nothing is credited while the line is paused
        _requireNotPaused();
        if (!_claim(ref, held ? KIND_HELD_TOP_UP : KIND_TOP_UP, account, amount, 0)) return;
        _addCollateral(ref, account, amount, held);
        _token.safeTransferFrom(_treasury, address(this), amount);
    }

    function _repayFor(bytes32 ref, address account, uint256 amount, bool held, uint64 paidAt)
        private
    {
        _requireNotPaused();
        uint8 kind = held ? KIND_HELD_REPAY_FOR : KIND_REPAY_FOR;
        if (!_claim(ref, kind, account, amount, paidAt)) return;
        Line storage line = _lineOf(account);
        uint256 repaid = amount < line.drawn ? amount : line.drawn;
        // The payment is held before the cycle closes, so that the cycle's reward waits for this
        // hold.
        if (held) {
            _holdRepayment(ref, account, repaid, line.openedAt == 0 ? 0 : _openNumber(line));
        } else if (repaid > 0) {
            _addLiquidity(repaid);
        }
        if (repaid > 0) {
            _subtractDebt(ref, account, _treasury, repaid, _paidAtWithin(account, paidAt));
        }
        if (amount > repaid) _addCollateral(ref, account, amount - repaid, held);
        _token.safeTransferFrom(_treasury, address(this), amount);
    }

    function _addCollateral(bytes32 ref, address account, uint256 amount, bool held) private {
        uint256 shares = _mintSharesFloor(amount);
        uint256 until = 0;
        if (held) until = _holdCollateral(ref, account, amount, shares);
        else _lineOf(account).shares += uint112(shares);
        emit CollateralAdded(ref, account, amount, shares, until, _next(account));
    }

    function _revoke(bytes32 ref, uint256 left, bool isRepayment) private {
        Payment storage payment = _paymentOf(ref);
        if (payment.account == address(0) || payment.isRepayment != isRepayment) {
            revert NotHeld(ref);
        }
        uint256 collateral = payment.collateral;
        uint256 whole = collateral + payment.repaid;
        if (whole <= left) {
            emit AlreadyApplied(ref);
            return;
        }
        // guard: nothing is revoked after its hold
        if (!_isHeld(payment)) revert NotHeld(ref);
        uint256 amount = whole - left;
        // guard: a revocation returns the excess before any debt is owed again
        uint256 fromCollateral = amount < collateral ? amount : collateral;
        if (amount > fromCollateral) {
            _revokeRepaid(payment, amount - fromCollateral);
            _returnDebt(ref, payment.account, amount - fromCollateral, payment.cycle);
        }
        if (fromCollateral > 0) _revokeCollateral(ref, fromCollateral);
        _token.safeTransfer(_treasury, amount);
    }

    function _extendHold(bytes32 ref) private {
        if (!_isHeld(_paymentOf(ref))) revert NotHeld(ref);
        _extend(ref);
    }

    /// @dev Claims `ref` for this content. Returns false if it was applied before.
    function _claim(bytes32 ref, uint8 kind, address account, uint256 amount, uint64 paidAt)
        private
        returns (bool fresh)
    {
        if (ref == 0) revert ZeroRef();
        if (account == address(0)) revert ZeroAddress();
        if (amount == 0) revert ZeroAmount();
        bytes32 content = contentOf(kind, account, amount, paidAt);
        Payment storage payment = _paymentOf(ref);
        bytes32 applied = payment.content;
        // guard: a ref is applied once
        if (applied == 0) {
            payment.content = content;
            return true;
        }
        // guard: a ref with different content is refused
        if (applied != content) revert RefConflict(ref);
        emit AlreadyApplied(ref);
    }
}
