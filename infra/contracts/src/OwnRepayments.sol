// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CreditLineBase} from "./CreditLineBase.sol";

/// @title Repayments with an account's own money
/// @notice The account orders them itself, or once for all cycles as an automatic repayment.
abstract contract OwnRepayments is CreditLineBase {
    using SafeERC20 for IERC20;

    /// @dev Repays `amount`, which is at most the debt, from the wallet, which must have approved it.
    function _repayFromWallet(address account, uint256 amount) internal {
        _addLiquidity(amount);
        _subtractDebt(0, account, account, amount, block.timestamp);
        _token.safeTransferFrom(account, address(this), amount);
    }

    /// @dev Repays `amount`, which is at most the debt, from collateral that is not held.
    function _repayFromCollateral(address account, uint256 amount) internal {
        _takeCollateral(account, amount, address(this));
        _addLiquidity(amount);
        _subtractDebt(0, account, account, amount, block.timestamp);
    }

    /// @dev Takes collateral. Returns the debt that is still encumbered.
    function _takeCollateral(address account, uint256 amount, address to)
        internal
        returns (uint256 encumbered)
    {
        Line storage line = _lineOf(account);
        encumbered = _fold(line);
        uint256 shares = _sharesOfAusdCeil(amount);
        if (shares > line.shares) {
            revert InsufficientCollateral(_ausdOfSharesFloor(line.shares), amount);
        }
        line.shares -= uint112(shares);
        _burnShares(shares, amount);
        emit CollateralWithdrawn(account, to, amount, shares, _next(account));
    }
}
