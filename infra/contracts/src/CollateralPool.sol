// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CreditLineTypes} from "./CreditLineTypes.sol";

/// @title Collateral of all accounts, owned in shares
/// @notice Every conversion rounds against the account (minting down, burning up, valuing down), so
/// the share price never falls.
/// @dev Virtual shares and a virtual unit of AUSD are part of the price, as in ERC-4626 with a
/// decimals offset of 6: an attacker who inflates the price loses half of the donation.
abstract contract CollateralPool is CreditLineTypes, ReentrancyGuardTransient {
    using SafeCast for uint256;

    uint256 internal constant VIRTUAL_SHARES = 1e6;
    uint256 internal constant VIRTUAL_AUSD = 1;

    IERC20 internal immutable _token;
    /// @dev Account that pays top-ups and relayed repayments, and receives revoked amounts.
    address internal immutable _treasury;

    uint128 internal _totalCollateral;
    uint128 internal _totalShares;

    constructor(address token_, address treasury_) {
        if (token_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        _token = IERC20(token_);
        _treasury = treasury_;
    }

    /// @dev Returns the AUSD value of `shares`, rounded down.
    function _ausdOfSharesFloor(uint256 shares) internal view returns (uint256) {
        return shares * (_totalCollateral + VIRTUAL_AUSD) / (_totalShares + VIRTUAL_SHARES);
    }

    function _mintSharesFloor(uint256 amount) internal returns (uint128 shares) {
        shares = (
            amount * (_totalShares + VIRTUAL_SHARES) / (_totalCollateral + VIRTUAL_AUSD)
        ).toUint128();
        if (shares == 0) revert ZeroShares();
        _totalShares += shares;
        _totalCollateral += amount.toUint128();
    }

    /// @dev Returns the shares to burn for `amount` AUSD, rounded up.
    function _sharesOfAusdCeil(uint256 amount) internal view returns (uint256) {
        return Math.ceilDiv(
            amount * (_totalShares + VIRTUAL_SHARES), _totalCollateral + VIRTUAL_AUSD
        );
    }

    /// @dev Burns shares. The caller takes `shares` from an account and moves `amount` out of the
    /// pool.
    function _burnShares(uint256 shares, uint256 amount) internal {
        _totalShares -= shares.toUint128();
        _totalCollateral -= amount.toUint128();
    }
}
