// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CreditLineBase} from "./CreditLineBase.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title Relayer operations with the treasury's AUSD, applied at most once per reference
/// @notice A `ref` permanently identifies one payment. Repeating the same content changes nothing,
/// so the relayer may resend from any key at any time; other content is refused.
/// @dev No relayed operation walks an account's queues, so its gas does not depend on the account's
/// history. Revoking works during a pause; crediting and repaying do not.
abstract contract RelayedOps is CreditLineBase {
    using SafeERC20 for IERC20;
    using HoldQueue for HoldQueue.Hold;

    uint8 internal constant KIND_TOP_UP = 0;
    uint8 internal constant KIND_HELD_TOP_UP = 1;
    uint8 internal constant KIND_REPAY_FOR = 2;
    uint8 internal constant KIND_REVOKE_TOP_UP = 3;
    uint8 internal constant KIND_HELD_REPAY_FOR = 4;
    uint8 internal constant KIND_REVOKE_REPAYMENT = 5;
    uint8 internal constant KIND_EXTEND_HOLD = 6;

    /// @notice Gas required before each operation of `many`. More than any operation uses, so a
    /// short gas limit reverts the batch and cannot look like a failed operation.
    uint256 public constant OP_GAS_FLOOR = 450_000;

    /// @notice Content hash applied under a ref, as computed by `contentOf`; 0 if unused.
    mapping(bytes32 ref => bytes32 contentHash) public refUsed;

    /// @notice Content hash of an operation; kinds as in `Op`.
    function contentOf(uint8 kind, address account, uint256 amount, uint64 paidAt)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(kind, account, amount, paidAt));
    }

    /// @notice Credits treasury AUSD as collateral of `account`, held for `holdSeconds` if `held`.
    function topUp(bytes32 ref, address account, uint256 amount, bool held)
        external
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

    /// @notice Revokes a held top-up; its current value goes to the treasury.
    function revokeTopUp(bytes32 ref) external onlyRole(RELAYER_ROLE) nonReentrant {
        _revokeTopUp(ref);
    }

    /// @notice Revokes a held repayment: the debt is owed again with its original age, and the
    /// AUSD, including the held excess, goes to the treasury.
    function revokeRepayment(bytes32 ref) external onlyRole(RELAYER_ROLE) nonReentrant {
        _revokeRepayment(ref);
    }

    /// @notice Extends a hold to one hour from now, or to `holdSeconds` if that is less; at most a
    /// day in total.
    function extendHold(bytes32 ref) external onlyRole(RELAYER_ROLE) nonReentrant {
        _extendHold(ref);
    }

    /// @notice Runs the operations in order. One that reverts only emits `OpFailed`.
    function many(Op[] calldata ops) external onlyRole(RELAYER_ROLE) nonReentrant {
        for (uint256 i = 0; i < ops.length; i++) {
            if (gasleft() < OP_GAS_FLOOR) revert GasTooLow(i);
            try this.applyOp(ops[i]) {}
            catch (bytes memory reason) {
                emit OpFailed(i, ops[i].ref, reason);
            }
        }
    }

    /// @notice Runs one operation of `many`. Called only by this contract, to isolate a revert.
    function applyOp(Op calldata op) external {
        if (msg.sender != address(this)) revert OnlySelf();
        if (op.kind == KIND_TOP_UP) _topUp(op.ref, op.account, op.amount, false);
        else if (op.kind == KIND_HELD_TOP_UP) _topUp(op.ref, op.account, op.amount, true);
        else if (op.kind == KIND_REPAY_FOR || op.kind == KIND_HELD_REPAY_FOR) {
            _repayFor(op.ref, op.account, op.amount, op.kind == KIND_HELD_REPAY_FOR, op.paidAt);
        } else if (op.kind == KIND_REVOKE_TOP_UP) _revokeTopUp(op.ref);
        else if (op.kind == KIND_REVOKE_REPAYMENT) _revokeRepayment(op.ref);
        else if (op.kind == KIND_EXTEND_HOLD) _extendHold(op.ref);
        else revert UnknownKind(op.kind);
    }

    function _topUp(bytes32 ref, address account, uint256 amount, bool held) private {
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
        Line storage line = _lines[account];
        uint256 repaid = amount < line.drawn ? amount : line.drawn;
        // Encumbered before the cycle closes, so that its reward waits for this hold.
        if (held) {
            uint32 cycle = line.openedAt == 0 ? 0 : line.cyclesClosed + 1;
            _pushRepayment(ref, account, repaid, _holdUntil(), cycle);
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
        uint128 shares = _mintSharesFloor(amount);
        uint40 until = 0;
        if (held) {
            until = _holdUntil();
            _pushLot(ref, account, shares, until);
        } else {
            _lines[account].shares += shares;
        }
        emit CollateralAdded(ref, account, amount, shares, until);
    }

    function _revokeTopUp(bytes32 ref) private {
        HoldKey memory key = _holdKeys[ref];
        if (key.lot == 0 || key.repayment != 0) revert NotHeld(ref);
        HoldQueue.Hold memory lot = _lots[key.account][key.lot - 1];
        if (lot.state == HoldQueue.State.Revoked) {
            emit AlreadyApplied(ref);
            return;
        }
        if (!lot.isHeld(key.lot - 1, _lines[key.account].lotHead)) revert NotHeld(ref);
        _token.safeTransfer(_treasury, _revokeLot(ref, key.account, key.lot - 1));
    }

    function _revokeRepayment(bytes32 ref) private {
        HoldKey memory key = _holdKeys[ref];
        if (key.repayment == 0) revert NotHeld(ref);
        uint256 index = key.repayment - 1;
        HoldQueue.Hold memory held = _repayments[key.account][index];
        if (held.state == HoldQueue.State.Revoked) {
            emit AlreadyApplied(ref);
            return;
        }
        Line storage line = _lines[key.account];
        if (!held.isHeld(index, line.repaymentHead)) revert NotHeld(ref);
        uint256 value = _dropRepayment(key.account, index);
        if (value > 0) _returnDebt(ref, key.account, value, held.cycle);
        // A seized lot has paid a debt and is not revoked.
        if (key.lot != 0) {
            HoldQueue.Hold memory lot = _lots[key.account][key.lot - 1];
            if (lot.isHeld(key.lot - 1, line.lotHead)) {
                value += _revokeLot(ref, key.account, key.lot - 1);
            }
        }
        _token.safeTransfer(_treasury, value);
    }

    function _extendHold(bytes32 ref) private {
        HoldKey memory key = _holdKeys[ref];
        address account = key.account;
        uint256 until = 0;
        if (key.repayment != 0) {
            uint256 index = key.repayment - 1;
            if (_repayments[account][index].isHeld(index, _lines[account].repaymentHead)) {
                until = _extendRepayment(ref, account, index);
                _moveReward(account, index, until);
            }
        }
        if (key.lot != 0) {
            uint256 index = key.lot - 1;
            HoldQueue.Hold storage lot = _lots[account][index];
            if (lot.isHeld(index, _lines[account].lotHead)) until = _extend(lot, ref);
        }
        if (until == 0) revert NotHeld(ref);
        emit HoldExtended(ref, account, until);
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
        bytes32 applied = refUsed[ref];
        if (applied == 0) {
            refUsed[ref] = content;
            return true;
        }
        if (applied != content) revert RefConflict(ref);
        emit AlreadyApplied(ref);
    }
}
