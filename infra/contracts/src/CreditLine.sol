// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Proxy} from "@openzeppelin/contracts/proxy/Proxy.sol";
import {CreditLineBase} from "./CreditLineBase.sol";
import {CreditLineExtension} from "./CreditLineExtension.sol";
import {OwnRepayments} from "./OwnRepayments.sol";
import {RelayedOps} from "./RelayedOps.sol";

/// @title Collateralised credit line in AUSD
/// @notice Verified accounts borrow from a lending pool against their share of a collateral pool.
/// The two pools never mix: the contract's balance is at least `totalCollateral` + `poolBalance`.
/// @dev Code is limited to 24,576 bytes. This contract has the functions called for every payment;
/// the extension has the views and the functions for operators and helpers, at the same address.
contract CreditLine is RelayedOps, OwnRepayments, Proxy {
    using SafeERC20 for IERC20;

    /// @dev Address of immutable code that runs on this contract's storage, deployed with the same
    /// terms.
    address private immutable _extension;

    constructor(Terms memory terms) CreditLineBase(terms) {
        _extension = address(new CreditLineExtension(terms));
    }

    /// @notice Borrows `amount` within the caller's limit and sends it to `to`.
    function draw(uint256 amount, address to) external whenNotPaused nonReentrant {
        _requireUserPayable(amount, to);
        Line storage line = _lineOf(msg.sender);
        if (!line.verified) revert NotVerified(msg.sender);
        if (line.defaulted) revert AccountDefaulted(msg.sender);
        // guard: a frozen account neither draws nor withdraws
        if (line.frozen) revert AccountFrozen(msg.sender);
        uint256 encumbered = _fold(line);
        uint256 drawnAfter = _addDebt(msg.sender, amount);
        _requireWithinLimit(line, encumbered);
        emit Drawn(msg.sender, to, amount, drawnAfter, _next(msg.sender));
        _token.safeTransfer(to, amount);
    }

    /// @notice Repays `amount` or the debt, whichever is less, from the caller's AUSD.
    function repay(uint256 amount) external nonReentrant {
        _repayFromWallet(msg.sender, _requireOwed(amount));
    }

    /// @notice Sets the allowance by signature, then repays as `repay` does. If the permit was
    /// already submitted, the allowance it gave is used.
    function repayWithPermit(uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
    {
        try IERC20Permit(address(_token)).permit(
            msg.sender, address(this), amount, deadline, v, r, s
        ) {} catch {}
        _repayFromWallet(msg.sender, _requireOwed(amount));
    }

    /// @notice Repays `amount` or the debt, whichever is less, from the caller's collateral.
    function repayFromCollateral(uint256 amount) external nonReentrant {
        _repayFromCollateral(msg.sender, _requireOwed(amount));
    }

    /// @notice Withdraws collateral that neither the debt nor the encumbered debt needs.
    function withdrawCollateral(uint256 amount, address to) external whenNotPaused nonReentrant {
        _requireUserPayable(amount, to);
        Line storage line = _lineOf(msg.sender);
        // guard: a frozen account neither draws nor withdraws
        if (line.frozen) revert AccountFrozen(msg.sender);
        // guard: a repayment with held money frees no collateral
        _requireWithinLimit(line, _takeCollateral(msg.sender, amount, to));
        _token.safeTransfer(to, amount);
    }

    function _requireOwed(uint256 amount) private view returns (uint256) {
        if (amount == 0) revert ZeroAmount();
        uint256 drawn = _lineOf(msg.sender).drawn;
        if (drawn == 0) revert NothingOwed(msg.sender);
        return amount < drawn ? amount : drawn;
    }

    /// @dev Refuses recipients to which users must not send. Apps show the treasury as the address
    /// for cash-outs, so AUSD that a user sends there from here would be a deposit that no cash-out
    /// explains.
    function _requireUserPayable(uint256 amount, address to) private view {
        _requirePayable(amount, to);
        // guard: users send no AUSD of the line to the treasury
        if (to == _treasury) revert InvalidRecipient(to);
    }

    function _requireWithinLimit(Line storage line, uint256 encumbered) private view {
        uint256 limit = _limitFloor(line, line.shares, 0);
        // guard: a repayment with held money frees no credit
        uint256 used = line.drawn + encumbered;
        if (used > limit) revert LimitExceeded(limit, used);
    }

    /// @dev Returns the extension, to which functions that this contract lacks are delegated.
    function _implementation() internal view override returns (address) {
        return _extension;
    }
}
