// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CreditLineBase} from "./CreditLineBase.sol";
import {HoldQueue} from "./HoldQueue.sol";

/// @title The credit line's views, and what its operators and helpers call
/// @notice Always called at the credit line's own address, which runs this code on its own state.
contract CreditLineExtension is CreditLineBase {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;
    using HoldQueue for HoldQueue.Hold;

    /// @notice Of this interface; whoever works with the contract checks it first.
    uint256 public constant version = 2;

    /// @dev This code's own address: a call there would act on nobody's state.
    address private immutable _self = address(this);

    modifier onlyThroughLine() {
        if (address(this) == _self) revert OnlySelf();
        _;
    }

    constructor(Terms memory terms) CreditLineBase(terms) {}

    /// @notice How long held money stays revocable, unless its hold is extended.
    function holdSeconds() external view returns (uint256) {
        return _holdSeconds;
    }

    /// @notice A cycle that closes sooner does not count.
    function minCycleSeconds() external view returns (uint256) {
        return _minCycleSeconds;
    }

    /// @notice Debt times seconds of a cycle that counts: this times `minCycleSeconds`.
    function minDebt() external view returns (uint256) {
        return _minDebt;
    }

    /// @notice How long a cycle may stay open.
    function termSeconds() external view returns (uint256) {
        return _termSeconds;
    }

    /// @notice How long after its term an account cannot be defaulted yet.
    function graceSeconds() external view returns (uint256) {
        return _graceSeconds;
    }

    /// @notice What of its collateral a new account may use.
    function initialRatioBps() external view returns (uint256) {
        return _initialRatioBps;
    }

    /// @notice AUSD.
    function token() external view returns (address) {
        return address(_token);
    }

    /// @notice Pays for top-ups and relayed repayments, receives what is revoked.
    function treasury() external view returns (address) {
        return _treasury;
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
    function ausdOfSharesFloor(uint256 shares) external view returns (uint256) {
        return _ausdOfSharesFloor(shares);
    }

    /// @notice AUSD of the lending pool that is there to be drawn.
    function liquidity() external view returns (uint256) {
        return _liquidity();
    }

    /// @notice AUSD of the lending pool that is not lent: `liquidity` and what is still held.
    function poolBalance() external view returns (uint256) {
        return uint256(_pool.free) + _pool.held;
    }

    /// @notice The account at the time of this block, whatever has matured counted.
    function accountOf(address account) external view returns (Account memory answer) {
        Line storage line = _lines[account];
        (uint256 matured,, uint256 pendingUntil) =
            HoldQueue.survey(_lots[account], line.lotHead, line.lotTail);
        (uint256 freed, uint256 rewards, uint256 encumberedUntil) =
            HoldQueue.survey(_repayments[account], line.repaymentHead, line.repaymentTail);
        answer.verified = line.verified;
        answer.defaulted = line.defaulted;
        answer.frozen = line.frozen;
        answer.score = line.score;
        answer.ratioBps = _ratioBpsOf(line, rewards);
        answer.cycles = line.cyclesClosed;
        answer.shares = line.shares + matured;
        answer.collateral = _ausdOfSharesFloor(answer.shares);
        answer.pendingShares = line.pendingShares - matured;
        answer.pendingUntil = answer.pendingShares == 0 ? 0 : pendingUntil;
        answer.encumbered = line.encumbered - freed;
        answer.encumberedUntil = answer.encumbered == 0 ? 0 : encumberedUntil;
        answer.limit = _limitFloor(line, answer.shares, rewards);
        answer.drawn = line.drawn;
        answer.available = _availableOf(line, answer.limit, answer.drawn + answer.encumbered);
    }

    /// @notice What is held under the ref of a top-up or a repayment; all zero if nothing ever was.
    /// @return account Whose it is.
    /// @return encumbered Debt that was repaid by it, in AUSD.
    /// @return shares Collateral that came of it; less the part that was seized, if only a part was.
    /// @return until When the hold ends.
    /// @return state Where it stands at the time of the block.
    function holdOf(bytes32 ref)
        external
        view
        returns (
            address account,
            uint256 encumbered,
            uint256 shares,
            uint256 until,
            HoldState state
        )
    {
        HoldKey memory key = _holdKeys[ref];
        if (key.account == address(0)) return (account, encumbered, shares, until, state);
        account = key.account;
        Line storage line = _lines[account];
        HoldQueue.Hold memory hold;
        uint256 index;
        uint256 head = line.lotHead;
        if (key.lot != 0) {
            index = key.lot - 1;
            hold = _lots[account][index];
            shares = hold.value;
        }
        if (key.repayment != 0) {
            index = key.repayment - 1;
            hold = _repayments[account][index];
            encumbered = hold.value;
            head = line.repaymentHead;
        }
        until = hold.until;
        if (hold.state == HoldQueue.State.Revoked) state = HoldState.Revoked;
        else state = hold.isHeld(index, head) ? HoldState.Held : HoldState.Released;
    }

    /// @notice Records whether the holder of `account` is identified. Setting it again is quiet.
    function setVerified(address account, bool verified) external onlyRole(VERIFIER_ROLE) {
        if (account == address(0)) revert ZeroAddress();
        Line storage line = _lines[account];
        if (line.verified == verified) return;
        line.verified = verified;
        emit VerifiedSet(account, verified);
    }

    /// @notice Stops an account from drawing and withdrawing, or ends that. Again is quiet.
    function setFrozen(address account, bool frozen) external onlyRole(VERIFIER_ROLE) {
        if (account == address(0)) revert ZeroAddress();
        Line storage line = _lines[account];
        if (line.frozen == frozen) return;
        line.frozen = frozen;
        emit FrozenSet(account, frozen);
    }

    /// @notice Folds up to `lotsMax` matured holds of `account`; anybody may help.
    function settleLots(address account, uint256 lotsMax) external nonReentrant {
        _foldHolds(account, lotsMax);
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
    function fundLiquidity(uint256 amount) external onlyThroughLine nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _addLiquidity(amount);
        emit LiquidityFunded(msg.sender, amount);
        _token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Takes AUSD that is not lent out from the lending pool.
    function withdrawLiquidity(uint256 amount, address to)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        _requirePayable(amount, to);
        _takeLiquidity(amount, FOLDS_PER_CALL);
        emit LiquidityWithdrawn(to, amount);
        _token.safeTransfer(to, amount);
    }

    /// @notice Stops money going out to accounts and coming in by the relayer. Repaying oneself and
    /// taking held money back go on. Every term stands still, so a pause makes nobody late.
    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
        _stopClock();
    }

    /// @notice Ends a pause.
    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
        _startClock();
    }

    /// @notice Raises the value of every share by a payment of the caller's.
    function addYield(uint256 amount) external onlyThroughLine nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _totalCollateral += amount.toUint128();
        emit YieldAdded(msg.sender, amount);
        _token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Folds up to `most` matured repayments into the lending pool; anybody may help.
    function settleLiquidity(uint256 most) external nonReentrant {
        _foldLiquidity(most);
    }

    function _availableOf(Line storage line, uint256 limit, uint256 used)
        private
        view
        returns (uint256 free)
    {
        if (!line.verified || line.defaulted || line.frozen || used >= limit) return 0;
        if (line.openedAt != 0 && block.timestamp > _dueAt(line)) return 0;
        free = limit - used;
        uint256 lendable = _liquidity();
        if (lendable < free) free = lendable;
    }
}
