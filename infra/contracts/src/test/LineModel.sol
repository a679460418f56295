// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {CreditLine} from "../CreditLine.sol";
import {CreditLineExtension} from "../CreditLineExtension.sol";
import {CreditLineTypes} from "../CreditLineTypes.sol";
import {Person} from "./Person.sol";

/// @title Model of the credit line that checks it with plain sums
/// @notice The model has no buckets: each hold stores its end, and sums run over the holds that
/// have not ended. Amounts are in micro-AUSD. Without yield every value is exact; with yield,
/// values differ by the rounding of each call.
abstract contract LineModel {
    struct User {
        Person person;
        uint256 walletBefore;
        /// Amount that the relayer credited, less revoked amounts.
        uint256 relayed;
        uint256 drawn;
        uint256 encumbered;
        uint256 cycles;
        /// Number of closed cycles that earned a reward, and of those among them without a held
        /// repayment.
        uint256 earned;
        uint256 settled;
        /// Time at which debt was last restored; 0 if none was since the last cycle closed.
        uint256 restoredAt;
        /// Maximum amount that rounding may have cost, once there is yield.
        uint256 slack;
        /// Bound of automatic repayments per cycle, and what they took in the cycle `autoCycle`.
        uint256 autoMax;
        uint256 autoTaken;
        uint256 autoCycle;
        bool autoCollateral;
        bool verified;
        bool frozen;
        bool defaulted;
    }

    struct Hold {
        uint8 user;
        bool repayment;
        bool encumbers;
        uint40 until;
        uint40 first;
        uint32 cycle;
        /// Amounts that are not revoked.
        uint256 repaid;
        uint256 excess;
    }

    /// @dev One relayed operation and the user it concerns.
    struct Step {
        uint8 user;
        CreditLineTypes.Op op;
    }

    struct Cycle {
        /// Number of held repayments that counted in the cycle.
        uint32 held;
        bool reversed;
        bool earned;
        uint40 startedAt;
        /// Debt × seconds since `startedAt`.
        uint256 debtTime;
    }

    uint256 internal constant SHARES_PER_UNIT = 1e6;
    uint256 internal constant RATIO_INITIAL = 5_000;
    uint256 internal constant RATIO_CAP = 9_000;

    CreditLine internal immutable _line;
    CreditLineExtension internal immutable _views;
    IERC20 internal immutable _token;
    address internal immutable _treasury;
    uint256 internal immutable _holdSeconds;
    uint256 private immutable _graceSeconds;
    /// @dev Time before the due date from which debt is repaid automatically.
    uint256 private immutable _autoSeconds;
    uint256 private immutable _step;
    uint256 private immutable _minDebtTime;
    uint256 private immutable _minSeconds;

    User[] internal _users;
    mapping(bytes32 ref => Hold) internal _holds;
    bytes32[] internal _live;
    mapping(uint256 user => mapping(uint256 number => Cycle)) private _cycles;
    uint256 private immutable _treasuryBefore;
    /// @dev Amount that the relayer credited to all users, less revoked amounts.
    uint256 private _credited;
    uint256 private _pool;
    uint256 private _encumbered;
    uint256 internal _yield;
    uint256 internal _donated;
    uint256 private _tickedAt;
    bool internal _paused;
    /// @dev Number and kind of the call that is being checked.
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
        _graceSeconds = _views.graceSeconds();
        uint256 term = _views.termSeconds();
        _autoSeconds = term < 2 days ? term / 2 : 1 days;
        _step = (_holdSeconds + 14) / 15;
        _minSeconds = _views.minCycleSeconds();
        _minDebtTime = _views.minDebt() * _minSeconds;
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

    function _addressOf(uint256 user) internal view returns (address) {
        return address(_users[user].person);
    }

    function _account(uint256 user) internal view returns (CreditLineTypes.Account memory) {
        return _views.accountOf(_addressOf(user));
    }

    // The following functions update the model.

    /// @dev Lets the time since the last block pass: debt-time grows and holds end.
    function _tick() internal {
        for (uint256 i = 0; i < _users.length; i++) {
            User storage user = _users[i];
            if (user.drawn == 0 || user.defaulted) continue;
            _cycles[i][user.cycles + 1].debtTime += user.drawn * (block.timestamp - _tickedAt);
        }
        _tickedAt = block.timestamp;
        for (uint256 i = _live.length; i > 0; i--) {
            Hold storage hold = _holds[_live[i - 1]];
            if (hold.until > block.timestamp) continue;
            _release(hold, hold.repaid);
            _live[i - 1] = _live[_live.length - 1];
            _live.pop();
        }
    }

    /// @dev Frees `amount` of the hold's debt, which is encumbered no longer.
    function _release(Hold storage hold, uint256 amount) private {
        if (!hold.encumbers) return;
        User storage user = _users[hold.user];
        user.encumbered -= amount;
        _encumbered -= amount;
        if (amount < hold.repaid) return;
        hold.encumbers = false;
        if (hold.cycle == 0) return;
        Cycle storage cycle = _cycles[hold.user][hold.cycle];
        cycle.held--;
        if (cycle.held == 0 && cycle.earned) user.settled++;
    }

    function _hold(bytes32 ref, uint256 user, uint256 repaid, uint256 excess, bool repayment)
        internal
    {
        Hold storage hold = _holds[ref];
        hold.user = uint8(user);
        hold.repayment = repayment;
        hold.until = uint40(_endOf(block.timestamp + _holdSeconds));
        hold.first = hold.until;
        (hold.repaid, hold.excess) = (repaid, excess);
        _live.push(ref);
        if (repaid == 0) return;
        hold.encumbers = true;
        _users[user].encumbered += repaid;
        _encumbered += repaid;
        if (_users[user].defaulted) return;
        hold.cycle = uint32(_users[user].cycles + 1);
        _cycles[user][hold.cycle].held++;
    }

    /// @dev Returns the end of a hold, which is a multiple of a fifteenth of its length.
    function _endOf(uint256 time) private view returns (uint256) {
        return (time + _step - 1) / _step * _step;
    }

    function _extended(Hold storage hold) internal view returns (uint256 until) {
        uint256 most = hold.first + _endOf(1 days);
        until = _endOf(block.timestamp + (_holdSeconds < 1 hours ? _holdSeconds : 1 hours));
        if (until > most) until = most;
    }

    function _extend(Hold storage hold) internal {
        hold.until = uint40(_extended(hold));
    }

    /// @dev Returns true if the contract must accept the operation. A default never needs held
    /// money, so held money can always be revoked.
    function _expected(Step memory step) internal view returns (bool) {
        uint8 kind = step.op.kind;
        if (kind > 6) return false;
        if (kind <= 2 || kind == 4) return !_paused;
        Hold storage hold = _holds[step.op.ref];
        if (kind == 6) return _isHeld(hold) && _extended(hold) > hold.until;
        bool right = hold.until != 0 && hold.repayment == (kind == 5);
        return right && (_isHeld(hold) || _left(hold) <= step.op.amount);
    }

    function _isHeld(Hold storage hold) internal view returns (bool) {
        return hold.until > block.timestamp && _left(hold) > 0;
    }

    function _left(Hold storage hold) internal view returns (uint256) {
        return hold.repaid + hold.excess;
    }

    /// @dev Takes back what exceeds `left`, the excess first.
    function _revoke(Hold storage hold, uint256 left) internal {
        if (_left(hold) <= left) return;
        uint256 back = _left(hold) - left;
        User storage user = _users[hold.user];
        user.relayed -= back;
        _credited -= back;
        _round(user);
        uint256 fromExcess = back < hold.excess ? back : hold.excess;
        hold.excess -= fromExcess;
        back -= fromExcess;
        if (back == 0) return;
        if (hold.cycle > 0) _reverse(hold.user, hold.cycle);
        _borrow(hold.user, back);
        user.restoredAt = block.timestamp;
        _release(hold, back);
        hold.repaid -= back;
    }

    /// @dev Makes the cycle earn nothing, because its debt-time was repaid with money that was
    /// taken back.
    function _reverse(uint256 index, uint256 number) private {
        Cycle storage cycle = _cycles[index][number];
        if (cycle.earned) _users[index].earned--;
        (cycle.earned, cycle.reversed) = (false, true);
    }

    /// @dev Adds the rounding of a call. A call of this user rounds at most three values, each by
    /// less than a unit and a share.
    function _round(User storage user) internal {
        if (_yield == 0) return;
        uint256 share = (_views.totalCollateral() + 1) / (_views.totalShares() + 1e6);
        user.slack += 3 * (1 + share);
    }

    function _credit(uint256 user, uint256 amount) internal {
        _users[user].relayed += amount;
        _credited += amount;
        _round(_users[user]);
    }

    function _borrow(uint256 user, uint256 amount) internal {
        Cycle storage cycle = _cycles[user][_users[user].cycles + 1];
        if (_users[user].drawn == 0) cycle.startedAt = uint40(block.timestamp);
        _users[user].drawn += amount;
        _pool -= amount;
    }

    /// @dev Repays `amount`, and closes the cycle if nothing is owed any more.
    function _payBack(uint256 index, uint256 amount) internal {
        User storage user = _users[index];
        user.drawn -= amount;
        _pool += amount;
        if (amount == 0 || user.drawn > 0 || user.defaulted) return;
        user.restoredAt = 0;
        Cycle storage cycle = _cycles[index][++user.cycles];
        bool long = block.timestamp - cycle.startedAt >= _minSeconds;
        cycle.earned = !cycle.reversed && long && cycle.debtTime >= _minDebtTime;
        if (!cycle.earned) return;
        user.earned++;
        if (cycle.held == 0) user.settled++;
    }

    /// @dev Returns what automatic repayments took in the open cycle.
    function _autoTaken(User storage user) internal view returns (uint256) {
        if (user.drawn == 0 || user.defaulted) return 0;
        return user.autoCycle == user.cycles + 1 ? user.autoTaken : 0;
    }

    /// @dev Returns the first second of an automatic repayment; 0 without an open cycle.
    function _autoFrom(CreditLineTypes.Account memory account) internal view returns (uint256) {
        return account.openedAt == 0 ? 0 : account.dueAt - _autoSeconds;
    }

    /// @dev Returns the amount that `autoRepay` must take now; 0 if it must be refused.
    function _autoAmount(User storage user, CreditLineTypes.Account memory account)
        internal
        view
        returns (uint256 amount)
    {
        if (_paused || account.openedAt == 0 || block.timestamp < _autoFrom(account)) return 0;
        uint256 taken = _autoTaken(user);
        if (taken >= user.autoMax) return 0;
        amount = user.autoMax - taken;
        if (amount > user.drawn) amount = user.drawn;
        uint256 source =
            user.autoCollateral ? account.collateral : _token.balanceOf(address(user.person));
        if (amount > source) return 0;
    }

    /// @dev Applies an automatic repayment of `amount`, which the bound of its cycle must allow.
    function _autoRepaid(uint256 index, uint256 amount) internal {
        User storage user = _users[index];
        user.autoTaken = _autoTaken(user) + amount;
        user.autoCycle = user.cycles + 1;
        _atMost("bound of automatic repayments", user.autoTaken, user.autoMax);
        if (user.autoCollateral) _round(user);
        _payBack(index, amount);
    }

    /// @dev Checks a default. `dueAt` is the due date that the contract had reported before it.
    function _default(uint256 index, uint256 dueAt) internal {
        User storage user = _users[index];
        uint256 usual = dueAt + _graceSeconds;
        // A payment of the last second of grace may be recorded for a week.
        _atMost("default within a week of grace", usual + 7 days + 1, block.timestamp);
        // By then every payment that was made within the grace period could have been revoked.
        uint256 last = usual + 7 days + _holdSeconds + 1 days + 2 * _step;
        uint256 restored = user.restoredAt < last ? user.restoredAt : last;
        if (restored > 0) {
            _atMost("default of restored debt", restored + 8 days + 1, block.timestamp);
        }
        _round(user);
        uint256 stillOwed = _account(index).drawn;
        _atMost("left by a default", stillOwed, _users[index].slack);
        _payBack(index, _users[index].drawn - stillOwed);
        _users[index].defaulted = true;
    }

    // The following functions check the invariants.

    function _checkTotals() internal view {
        uint256 pool = _views.poolBalance();
        _same("pool", pool, _pool);
        _same("treasury", _token.balanceOf(_treasury), _treasuryBefore - _credited);
        uint256 owned = _views.totalCollateral() + pool;
        _same("balance", _token.balanceOf(address(_line)), owned + _donated);
        // Liquidity excludes all held money, and includes matured money even of inactive accounts.
        _same("liquidity", _views.liquidity(), _pool - _encumbered);
    }

    function _checkAll() internal view {
        uint256 shares;
        (uint256 owned, uint256 credited) = (0, 0);
        for (uint256 i = 0; i < _users.length; i++) {
            _check(i);
            CreditLineTypes.Account memory account = _account(i);
            shares += account.shares + account.pendingShares;
            (uint256 ownedByOne, uint256 creditedToOne) = _ownedBy(i, account);
            (owned, credited) = (owned + ownedByOne, credited + creditedToOne);
        }
        _same("shares", _views.totalShares(), shares);
        _atMost("gained by all", owned, credited + _yield);
    }

    function _check(uint256 index) internal view {
        User storage user = _users[index];
        CreditLineTypes.Account memory account = _account(index);
        _same("drawn", account.drawn, user.drawn);
        _same("encumbered", account.encumbered, user.encumbered);
        _same("cycles", account.cycles, user.cycles);
        bool owes = user.drawn > 0 && !user.defaulted;
        _same("open", account.openedAt == 0 ? 0 : 1, owes ? 1 : 0);
        (uint256 owned, uint256 credited) = _ownedBy(index, account);
        if (_yield == 0) _same("whole units", account.pendingShares % SHARES_PER_UNIT, 0);
        // Every amount credited and not revoked is collateral, in the wallet, or repaid debt.
        if (_yield == 0) _same("conservation", owned, credited);
        _atMost("lost", credited, owned + user.slack);
        _atMost("gained", owned, credited + _yield);
        _checkStanding(user, account);
        _checkRecord(index, account);
        _checkAuto(user, account);
    }

    function _checkAuto(User storage user, CreditLineTypes.Account memory account) private view {
        (uint256 max, bool fromCollateral, uint256 taken, uint256 from) =
            _views.autoRepayOf(address(user.person));
        _same("automatic bound", max, user.autoMax);
        _same("automatic source", fromCollateral ? 1 : 0, user.autoCollateral ? 1 : 0);
        _same("automatically taken", taken, _autoTaken(user));
        _same("automatic from", from, _autoFrom(account));
    }

    function _ownedBy(uint256 index, CreditLineTypes.Account memory account)
        internal
        view
        returns (uint256 owned, uint256 credited)
    {
        User storage user = _users[index];
        owned = account.collateral + _views.ausdOfSharesFloor(account.pendingShares)
            + _token.balanceOf(address(user.person));
        credited = user.walletBefore + user.relayed + account.drawn;
    }

    function _checkStanding(User storage user, CreditLineTypes.Account memory account)
        private
        view
    {
        uint256 used = account.drawn + account.encumbered;
        // Even if all held money were revoked now, collateral would cover the debt.
        _atMost("secured", used, account.collateral + user.slack);
        if (account.defaulted) _same("limit", account.limit, 0);
        bool open = account.verified && !account.defaulted && !account.frozen;
        if (!open || used >= account.limit) _same("available", account.available, 0);
        else _atMost("available", used + account.available, account.limit);
        _same("verified", account.verified ? 1 : 0, user.verified ? 1 : 0);
        _same("frozen", account.frozen ? 1 : 0, user.frozen ? 1 : 0);
        _same("defaulted", account.defaulted ? 1 : 0, user.defaulted ? 1 : 0);
    }

    /// @dev Checks that one debt-time gave one reward: score for cycles that earned it, ratio for
    /// those of them that can no longer be revoked.
    function _checkRecord(uint256 index, CreditLineTypes.Account memory account) private view {
        User storage user = _users[index];
        _atMost("score", account.score, 10 * user.earned);
        _atMost("ratio", account.ratioBps, RATIO_INITIAL + 250 * user.settled);
        _atMost("ratio cap", account.ratioBps, RATIO_CAP);
        _atMost("ratio floor", RATIO_INITIAL, account.ratioBps);
        if (account.defaulted) {
            _same("score of a default", account.score, 0);
            _same("ratio of a default", account.ratioBps, RATIO_INITIAL);
        }
    }
}
