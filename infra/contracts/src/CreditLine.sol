// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CollateralPool} from "./CollateralPool.sol";
import {Cycles} from "./Cycles.sol";
import {HeldLots} from "./HeldLots.sol";
import {RelayedOps} from "./RelayedOps.sol";

/// @title Collateralised credit line in AUSD
/// @notice Verified accounts borrow from a lending pool against their share of a collateral pool.
/// The two pools never mix: the contract's balance is at least `totalCollateral` + `liquidity`.
contract CreditLine is RelayedOps {
    using SafeERC20 for IERC20;

    bytes32 public constant VERIFIER_ROLE = keccak256("VERIFIER_ROLE");
    bytes32 public constant PAUSER_ROLE = keccak256("PAUSER_ROLE");

    constructor(Terms memory terms)
        CollateralPool(terms.token, terms.treasury)
        HeldLots(terms.holdSeconds)
        Cycles(terms)
    {
        if (terms.admin == address(0)) revert ZeroAddress();
        _grantRole(DEFAULT_ADMIN_ROLE, terms.admin);
        _grantRole(PAUSER_ROLE, terms.admin);
    }

    /// @notice The account at the time of this block, matured lots counted.
    function accountOf(address account) external view returns (Account memory answer) {
        Line storage line = _lines[account];
        (uint256 matured, uint256 until) = _queueOf(account);
        answer.verified = line.verified;
        answer.defaulted = line.defaulted;
        answer.score = line.score;
        answer.ratioBps = _ratioBpsOf(line);
        answer.cycles = line.cyclesClosed;
        answer.shares = line.shares + matured;
        answer.collateral = ausdOfSharesFloor(answer.shares);
        answer.pendingShares = line.pendingShares - matured;
        answer.pendingUntil = until;
        answer.limit = _limitFloor(line, answer.shares);
        answer.drawn = line.drawn;
    }

    /// @notice Records whether the holder of `account` is identified. Setting it again is quiet.
    function setVerified(address account, bool verified) external onlyRole(VERIFIER_ROLE) {
        if (account == address(0)) revert ZeroAddress();
        Line storage line = _lines[account];
        if (line.verified == verified) return;
        line.verified = verified;
        emit VerifiedSet(account, verified);
    }

    /// @notice Borrows `amount` within the caller's limit and sends it to `to`.
    function draw(uint256 amount, address to) external whenNotPaused nonReentrant {
        _requirePayable(amount, to);
        Line storage line = _lines[msg.sender];
        if (!line.verified) revert NotVerified(msg.sender);
        if (line.defaulted) revert AccountDefaulted(msg.sender);
        _foldLots(msg.sender, LOTS_PER_CALL);
        uint256 drawnAfter = _addDebt(msg.sender, amount);
        _requireWithinLimit(line);
        emit Drawn(msg.sender, to, amount, drawnAfter);
        token.safeTransfer(to, amount);
    }

    /// @notice Repays `amount` or what is owed, whichever is less, from the caller's AUSD.
    function repay(uint256 amount) external nonReentrant {
        _repay(amount);
    }

    /// @notice As `repay`, setting the allowance by a signature first. A permit that somebody else
    /// submitted already does no harm: the allowance it gave is what counts.
    function repayWithPermit(uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
    {
        try IERC20Permit(address(token)).permit(
            msg.sender, address(this), amount, deadline, v, r, s
        ) {} catch {}
        _repay(amount);
    }

    /// @notice Repays `amount` or what is owed, whichever is less, from the caller's collateral.
    function repayFromCollateral(uint256 amount) external nonReentrant {
        uint256 repaid = _requireOwed(amount);
        uint256 shares = _takeCollateral(repaid);
        emit CollateralWithdrawn(msg.sender, address(this), repaid, shares);
        _subtractDebt(0, msg.sender, msg.sender, repaid);
    }

    /// @notice Takes out collateral that the debt does not need and sends it to `to`.
    function withdrawCollateral(uint256 amount, address to) external whenNotPaused nonReentrant {
        _requirePayable(amount, to);
        uint256 shares = _takeCollateral(amount);
        _requireWithinLimit(_lines[msg.sender]);
        emit CollateralWithdrawn(msg.sender, to, amount, shares);
        token.safeTransfer(to, amount);
    }

    /// @notice Defaults an account whose cycle is open past its term and grace. Anyone may call.
    function markDefault(address account) external whenNotPaused nonReentrant {
        _default(account);
    }

    /// @notice Goes on seizing from a defaulted account that still owes: collateral that arrived
    /// since, or lots beyond the number one call takes. Anyone may call.
    function seizeMore(address account, uint256 lotsMax) external whenNotPaused nonReentrant {
        Line storage line = _lines[account];
        if (!line.defaulted) revert NotDefaulted(account);
        if (line.drawn == 0) revert NothingOwed(account);
        (uint256 amount, uint256 shares) = _seizeForDebt(account, lotsMax);
        emit CollateralSeized(account, amount, shares, line.drawn);
    }

    /// @notice Adds the caller's AUSD to the lending pool.
    function fundLiquidity(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        liquidity += amount;
        emit LiquidityFunded(msg.sender, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Takes AUSD that is not lent out from the lending pool.
    function withdrawLiquidity(uint256 amount, address to)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        _requirePayable(amount, to);
        if (amount > liquidity) revert InsufficientLiquidity(liquidity, amount);
        liquidity -= amount;
        emit LiquidityWithdrawn(to, amount);
        token.safeTransfer(to, amount);
    }

    /// @notice Stops money going out and everything relayed. Repaying goes on, so a pause makes
    /// nobody late, and nobody can be defaulted meanwhile.
    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    /// @notice Ends a pause.
    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }

    function _repay(uint256 amount) private {
        uint256 repaid = _requireOwed(amount);
        _subtractDebt(0, msg.sender, msg.sender, repaid);
        token.safeTransferFrom(msg.sender, address(this), repaid);
    }

    function _takeCollateral(uint256 amount) private returns (uint256 shares) {
        _foldLots(msg.sender, LOTS_PER_CALL);
        Line storage line = _lines[msg.sender];
        shares = _sharesOfAusdCeil(amount);
        if (shares > line.shares) {
            if (_hasMaturedLots(msg.sender)) revert SettleLotsFirst(msg.sender);
            revert InsufficientCollateral(ausdOfSharesFloor(line.shares), amount);
        }
        line.shares -= uint128(shares);
        _burnShares(shares, amount);
    }

    function _requireOwed(uint256 amount) private view returns (uint256) {
        if (amount == 0) revert ZeroAmount();
        uint256 drawn = _lines[msg.sender].drawn;
        if (drawn == 0) revert NothingOwed(msg.sender);
        return amount < drawn ? amount : drawn;
    }

    function _requireWithinLimit(Line storage line) private view {
        uint256 limit = _limitFloor(line, line.shares);
        if (line.drawn <= limit) return;
        if (_hasMaturedLots(msg.sender)) revert SettleLotsFirst(msg.sender);
        revert LimitExceeded(limit, line.drawn);
    }

    function _requirePayable(uint256 amount, address to) private view {
        if (amount == 0) revert ZeroAmount();
        if (to == address(0) || to == address(this)) revert InvalidRecipient(to);
    }
}
