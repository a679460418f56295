// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Cycles} from "./Cycles.sol";

/// @title What the relayer does with the treasury's AUSD, at most once per reference
/// @notice A `ref` names one payment for ever. The same content again is answered quietly, so a
/// relayer may resend from any key at any time; other content is refused.
/// @dev No relayed operation folds lots, so its gas does not depend on the account's history.
abstract contract RelayedOps is Cycles, AccessControl, Pausable {
    using SafeERC20 for IERC20;

    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");

    uint8 internal constant KIND_TOP_UP = 0;
    uint8 internal constant KIND_HELD_TOP_UP = 1;
    uint8 internal constant KIND_REPAY_FOR = 2;
    uint8 internal constant KIND_REVOKE_TOP_UP = 3;

    /// @notice Gas that must be left before each operation of `many`. More than any operation uses,
    /// so that a short gas limit reverts the batch and never fakes a failed operation.
    uint256 public constant OP_GAS_FLOOR = 250_000;

    /// @notice Hash of what was applied under a ref, as `contentOf` computes it; 0 if unused.
    mapping(bytes32 ref => bytes32 contentHash) public refUsed;

    /// @notice Content hash of an operation; kinds as in `Op`.
    function contentOf(uint8 kind, address account, uint256 amount) public pure returns (bytes32) {
        return keccak256(abi.encode(kind, account, amount));
    }

    /// @notice Turns treasury AUSD into collateral of `account`, held for `holdSeconds` if `held`.
    function topUp(bytes32 ref, address account, uint256 amount, bool held)
        external
        onlyRole(RELAYER_ROLE)
        whenNotPaused
        nonReentrant
    {
        _topUp(ref, account, amount, held);
    }

    /// @notice Repays up to what `account` owes; the excess becomes its collateral at once.
    function repayFor(bytes32 ref, address account, uint256 amount)
        external
        onlyRole(RELAYER_ROLE)
        whenNotPaused
        nonReentrant
    {
        _repayFor(ref, account, amount);
    }

    /// @notice Takes a top-up back while it is held: its value at this time goes to the treasury.
    function revokeTopUp(bytes32 ref) external onlyRole(RELAYER_ROLE) whenNotPaused nonReentrant {
        _revokeLot(ref);
    }

    /// @notice Runs the operations in order. One that reverts leaves nothing but an `OpFailed`.
    function many(Op[] calldata ops) external onlyRole(RELAYER_ROLE) whenNotPaused nonReentrant {
        for (uint256 i = 0; i < ops.length; i++) {
            if (gasleft() < OP_GAS_FLOOR) revert GasTooLow(i);
            try this.applyOp(ops[i]) {}
            catch (bytes memory reason) {
                emit OpFailed(i, ops[i].ref, reason);
            }
        }
    }

    /// @notice One operation of `many`; only this contract calls it, to confine a revert.
    function applyOp(Op calldata op) external {
        if (msg.sender != address(this)) revert OnlySelf();
        if (op.kind == KIND_TOP_UP) _topUp(op.ref, op.account, op.amount, false);
        else if (op.kind == KIND_HELD_TOP_UP) _topUp(op.ref, op.account, op.amount, true);
        else if (op.kind == KIND_REPAY_FOR) _repayFor(op.ref, op.account, op.amount);
        else if (op.kind == KIND_REVOKE_TOP_UP) _revokeLot(op.ref);
        else revert UnknownKind(op.kind);
    }

    function _topUp(bytes32 ref, address account, uint256 amount, bool held) private {
        if (!_claim(ref, held ? KIND_HELD_TOP_UP : KIND_TOP_UP, account, amount)) return;
        uint128 shares = _mintSharesFloor(amount);
        uint256 until = 0;
        if (held) until = _pushLot(ref, account, amount, shares);
        else _lines[account].shares += shares;
        emit CollateralAdded(ref, account, amount, shares, until);
        token.safeTransferFrom(treasury, address(this), amount);
    }

    function _repayFor(bytes32 ref, address account, uint256 amount) private {
        if (!_claim(ref, KIND_REPAY_FOR, account, amount)) return;
        Line storage line = _lines[account];
        uint256 repaid = amount < line.drawn ? amount : line.drawn;
        if (repaid > 0) _subtractDebt(ref, account, treasury, repaid);
        if (amount > repaid) {
            uint128 shares = _mintSharesFloor(amount - repaid);
            line.shares += shares;
            emit CollateralAdded(ref, account, amount - repaid, shares, 0);
        }
        token.safeTransferFrom(treasury, address(this), amount);
    }

    /// @dev True if `ref` is new and now taken by this content; false if it was applied before.
    function _claim(bytes32 ref, uint8 kind, address account, uint256 amount)
        private
        returns (bool fresh)
    {
        if (ref == 0) revert ZeroRef();
        if (account == address(0)) revert ZeroAddress();
        if (amount == 0) revert ZeroAmount();
        bytes32 content = contentOf(kind, account, amount);
        bytes32 applied = refUsed[ref];
        if (applied == 0) {
            refUsed[ref] = content;
            return true;
        }
        if (applied != content) revert RefConflict(ref);
        emit AlreadyApplied(ref);
    }
}
