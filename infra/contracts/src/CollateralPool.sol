// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CreditLineTypes} from "./CreditLineTypes.sol";

/// @title The collateral of all accounts, owned in shares
/// @notice Every conversion rounds against the account: minting down, burning up, valuing down. So
/// the price of a share never falls.
/// @dev Virtual shares and a virtual unit of AUSD take part in the price, as in ERC-4626 with a
/// decimals offset of 6: whoever inflates the price pays half of it to nobody.
abstract contract CollateralPool is CreditLineTypes, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    uint256 internal constant VIRTUAL_SHARES = 1e6;
    uint256 internal constant VIRTUAL_AUSD = 1;

    /// @notice AUSD.
    IERC20 public immutable token;
    /// @notice Pays for top-ups and relayed repayments, receives what is revoked.
    address public immutable treasury;

    uint128 private _totalCollateral;
    uint128 private _totalShares;
    mapping(address account => Line) internal _lines;

    constructor(address token_, address treasury_) {
        if (token_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        token = IERC20(token_);
        treasury = treasury_;
    }

    /// @notice AUSD that backs all shares, held ones included.
    function totalCollateral() external view returns (uint256) {
        return _totalCollateral;
    }

    /// @notice Shares of all accounts, held ones included.
    function totalShares() external view returns (uint256) {
        return _totalShares;
    }

    /// @notice AUSD value of `shares`, rounded down.
    function ausdOfSharesFloor(uint256 shares) public view returns (uint256) {
        return shares * (_totalCollateral + VIRTUAL_AUSD) / (_totalShares + VIRTUAL_SHARES);
    }

    /// @notice Raises the value of every share by a payment of the caller's.
    function addYield(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _totalCollateral += amount.toUint128();
        emit YieldAdded(msg.sender, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    function _mintSharesFloor(uint256 amount) internal returns (uint128 shares) {
        shares = (
            amount * (_totalShares + VIRTUAL_SHARES) / (_totalCollateral + VIRTUAL_AUSD)
        ).toUint128();
        if (shares == 0) revert ZeroShares();
        _totalShares += shares;
        _totalCollateral += amount.toUint128();
    }

    /// @dev Shares to burn for `amount` AUSD, rounded up.
    function _sharesOfAusdCeil(uint256 amount) internal view returns (uint256) {
        return Math.ceilDiv(
            amount * (_totalShares + VIRTUAL_SHARES), _totalCollateral + VIRTUAL_AUSD
        );
    }

    /// @dev The caller has taken `shares` from an account and moves `amount` out of the pool.
    function _burnShares(uint256 shares, uint256 amount) internal {
        _totalShares -= shares.toUint128();
        _totalCollateral -= amount.toUint128();
    }
}
