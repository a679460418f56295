// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {CreditLine} from "../CreditLine.sol";
import {CreditLineExtension} from "../CreditLineExtension.sol";
import {CreditLineTypes} from "../CreditLineTypes.sol";
import {Person} from "./Person.sol";

/// @title Model of the credit line that checks it with plain sums
/// @notice Has no queues: each hold stores its end, and sums run over the holds that have not
/// ended. Amounts in micro-AUSD; without yield every value is exact.
abstract contract LineModel {
    struct User {
        Person person;
        uint256 walletBefore;
        /// Credited by the relayer, less revoked amounts.
        uint256 relayed;
        uint256 drawn;
        uint256 encumbered;
        uint256 cycles;
        /// Cycles with a revoked repayment, and those plus the ones that can still be revoked.
        uint256 reversed;
        uint256 tainted;
        bool verified;
        bool frozen;
        bool defaulted;
    }

    struct Hold {
        uint8 user;
        bool repayment;
        bool encumbers;
        bool revoked;
        uint40 until;
        uint40 first;
        /// When its AUSD can be lent, no earlier than that of earlier holds.
        uint40 lendableAt;
        bool lendable;
        uint32 cycle;
        uint256 repaid;
        uint256 excess;
    }

    /// @dev One relayed operation and the user it concerns.
    struct Step {
        uint8 user;
        CreditLineTypes.Op op;
    }

    struct Taint {
        uint32 held;
        bool reversed;
    }

    uint256 internal constant SHARES_PER_UNIT = 1e6;
    uint256 internal constant RATIO_INITIAL = 5_000;
    uint256 internal constant RATIO_CAP = 9_000;

    CreditLine internal immutable _line;
    CreditLineExtension internal immutable _views;
    IERC20 internal immutable _token;
    address internal immutable _treasury;
    uint256 internal immutable _holdSeconds;

    User[] internal _users;
    mapping(bytes32 ref => Hold) internal _holds;
    bytes32[] internal _live;
    mapping(uint256 user => mapping(uint256 cycle => Taint)) private _taints;
    uint256 private immutable _treasuryBefore;
    /// @dev Credited by the relayer to all users, less revoked amounts.
    uint256 private _credited;
    uint256 private _pool;
    uint256 private _notLendable;
    uint40 private _lastLendableAt;
    bool internal _paused;
    /// @dev State before the call that is being checked.
    uint256 internal _call;
    uint256 internal _kind;

    /// @notice An invariant failed after this call of this kind.
    error Broken(bytes32 what, uint256 call, uint256 kind, uint256 found, uint256 wanted);

    constructor(address line, uint256 users) {
        _line = CreditLine(payable(line));
        _views = CreditLineExtension(line);
        _token = IERC20(_views.token());
        _treasury = _views.treasury();
        _holdSeconds = _views.holdSeconds();
        _pool = _views.poolBalance();
        _treasuryBefore = _token.balanceOf(_treasury);
        for (uint256 i = 0; i < users; i++) {
            _users.push().person = new Person(_token, line);
        }
    }

    function _same(bytes32 what, uint256 found, uint256 wanted) internal view {
        if (found != wanted) revert Broken(what, _call, _kind, found, wanted);
    }

    function _atMost(bytes32 what, uint256 found, uint256 most) internal view {
        if (found > most) revert Broken(what, _call, _kind, found, most);
    }

    function _account(uint256 user) internal view returns (CreditLineTypes.Account memory) {
        return _views.accountOf(address(_users[user].person));
    }

    // Updates of the model.

    /// @dev Ends the holds that matured since the last block.
    function _tick() internal {
        for (uint256 i = _live.length; i > 0; i--) {
            Hold storage hold = _holds[_live[i - 1]];
            if (hold.until <= block.timestamp) _release(hold);
            if (hold.lendableAt <= block.timestamp) _lend(hold);
            if (hold.encumbers || !hold.lendable || hold.until > block.timestamp) continue;
            _live[i - 1] = _live[_live.length - 1];
            _live.pop();
        }
    }

    function _lend(Hold storage hold) private {
        if (hold.lendable) return;
        hold.lendable = true;
        _notLendable -= hold.repaid;
    }

    function _release(Hold storage hold) private {
        if (!hold.encumbers) return;
        hold.encumbers = false;
        _users[hold.user].encumbered -= hold.repaid;
        _untaint(hold.user, hold.cycle);
    }

    function _untaint(uint256 user, uint256 cycle) private {
        if (cycle == 0) return;
        Taint storage taint = _taints[user][cycle];
        taint.held--;
        if (taint.held == 0 && !taint.reversed) _users[user].tainted--;
    }

    function _hold(bytes32 ref, uint256 user, uint256 repaid, uint256 excess, bool repayment)
        internal
    {
        Hold storage hold = _holds[ref];
        hold.user = uint8(user);
        hold.repayment = repayment;
        hold.until = uint40(block.timestamp + _holdSeconds);
        hold.first = hold.until;
        (hold.repaid, hold.excess) = (repaid, excess);
        hold.lendable = true;
        _live.push(ref);
        if (repaid == 0) return;
        hold.encumbers = true;
        _users[user].encumbered += repaid;
        _queue(hold);
        if (_users[user].defaulted) return;
        hold.cycle = uint32(_users[user].cycles + 1);
        Taint storage taint = _taints[user][hold.cycle];
        if (taint.held == 0 && !taint.reversed) _users[user].tainted++;
        taint.held++;
    }

    function _queue(Hold storage hold) private {
        if (hold.until > _lastLendableAt) _lastLendableAt = hold.until;
        hold.lendableAt = _lastLendableAt;
        if (hold.lendable) _notLendable += hold.repaid;
        hold.lendable = false;
    }

    function _extended(Hold storage hold) internal view returns (uint256 until) {
        uint256 most = uint256(hold.first) + 1 days;
        until = block.timestamp + (_holdSeconds < 1 hours ? _holdSeconds : 1 hours);
        if (until > most) until = most;
    }

    function _extend(Hold storage hold) internal {
        hold.until = uint40(_extended(hold));
        if (hold.repaid > 0) _queue(hold);
    }

    /// @dev True if the contract must accept it. A default never needs held money, so held money
    /// can always be revoked.
    function _expected(Step memory step) internal view returns (bool) {
        uint8 kind = step.op.kind;
        if (kind > 6) return false;
        if (kind <= 2 || kind == 4) return !_paused;
        Hold storage hold = _holds[step.op.ref];
        if (kind == 6) return _isHeld(hold) && _extended(hold) > hold.until;
        bool right = hold.until != 0 && hold.repayment == (kind == 5);
        return right && (_isHeld(hold) || hold.revoked);
    }

    function _isHeld(Hold storage hold) internal view returns (bool) {
        return hold.until > block.timestamp && !hold.revoked;
    }

    /// @dev `back` is the amount the treasury received.
    function _revoke(Hold storage hold, uint256 back) internal {
        User storage user = _users[hold.user];
        hold.revoked = true;
        user.relayed -= back;
        _credited -= back;
        if (hold.repaid == 0) return;
        user.drawn += hold.repaid;
        _pool -= hold.repaid;
        _lend(hold);
        if (hold.cycle > 0) {
            Taint storage taint = _taints[hold.user][hold.cycle];
            if (!taint.reversed) user.reversed++;
            taint.reversed = true;
        }
        _release(hold);
    }

    function _credit(uint256 user, uint256 amount) internal {
        _users[user].relayed += amount;
        _credited += amount;
    }

    function _borrow(uint256 user, uint256 amount) internal {
        _users[user].drawn += amount;
        _pool -= amount;
    }

    /// @dev Closes the cycle if nothing is owed any more.
    function _payBack(uint256 index, uint256 amount) internal {
        User storage user = _users[index];
        user.drawn -= amount;
        _pool += amount;
        if (amount > 0 && user.drawn == 0 && !user.defaulted) user.cycles++;
    }

    function _default(uint256 index) internal {
        _payBack(index, _users[index].drawn);
        _users[index].defaulted = true;
    }

    // Invariants.

    function _checkTotals() internal view {
        uint256 pool = _views.poolBalance();
        _same("pool", pool, _pool);
        _same("treasury", _token.balanceOf(_treasury), _treasuryBefore - _credited);
        _same("balance", _token.balanceOf(address(_line)), _views.totalCollateral() + pool);
        // Excludes all held money, and includes matured money even of inactive accounts.
        _same("liquidity", _views.liquidity(), _pool - _notLendable);
    }

    function _check(uint256 index) internal view {
        User storage user = _users[index];
        CreditLineTypes.Account memory account = _account(index);
        _same("drawn", account.drawn, user.drawn);
        _same("encumbered", account.encumbered, user.encumbered);
        _same("cycles", account.cycles, user.cycles);
        _same("whole units", account.pendingShares % SHARES_PER_UNIT, 0);
        // Every amount credited and not revoked is collateral, in the wallet, or repaid debt.
        _same(
            "conservation",
            account.collateral + account.pendingShares / SHARES_PER_UNIT
                + _token.balanceOf(address(user.person)),
            user.walletBefore + user.relayed + account.drawn
        );
        _checkStanding(user, account);
        _checkRecord(index, account);
    }

    function _checkStanding(User storage user, CreditLineTypes.Account memory account)
        private
        view
    {
        uint256 used = account.drawn + account.encumbered;
        // Even if all held money is revoked now, collateral covers the debt.
        _atMost("secured", used, account.collateral);
        if (account.defaulted) _same("limit", account.limit, 0);
        bool open = account.verified && !account.defaulted && !account.frozen;
        if (!open || used >= account.limit) _same("available", account.available, 0);
        else _atMost("available", used + account.available, account.limit);
        _same("verified", account.verified ? 1 : 0, user.verified ? 1 : 0);
        _same("frozen", account.frozen ? 1 : 0, user.frozen ? 1 : 0);
        _same("defaulted", account.defaulted ? 1 : 0, user.defaulted ? 1 : 0);
    }

    /// @dev Score only for qualified cycles, ratio only for those that can no longer be revoked.
    function _checkRecord(uint256 index, CreditLineTypes.Account memory account) private view {
        User storage user = _users[index];
        // Repayments of the open cycle, which has not counted yet.
        Taint storage open = _taints[index][user.cycles + 1];
        uint256 reversed = user.reversed - (open.reversed ? 1 : 0);
        uint256 tainted = user.tainted - (open.reversed || open.held > 0 ? 1 : 0);
        _atMost("score", account.score, 10 * (user.cycles - reversed));
        _atMost("ratio", account.ratioBps, RATIO_INITIAL + 250 * (user.cycles - tainted));
        _atMost("ratio cap", account.ratioBps, RATIO_CAP);
        _atMost("ratio floor", RATIO_INITIAL, account.ratioBps);
        if (account.defaulted) {
            _same("score of a default", account.score, 0);
            _same("ratio of a default", account.ratioBps, RATIO_INITIAL);
        }
    }
}
