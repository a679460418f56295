// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AutoRepay} from "../AutoRepay.sol";
import {CreditLine} from "../CreditLine.sol";
import {CreditLineExtension} from "../CreditLineExtension.sol";
import {CreditLineTypes} from "../CreditLineTypes.sol";
import {RelayedOps} from "../RelayedOps.sol";
import {LineModel} from "./LineModel.sol";

/// @title Random calls to a credit line by all roles, checked after each call
/// @notice The contract holds the relayer's, verifier's and pauser's role and owns the users. Time
/// passes between the transactions that run it. The same seeds and times make the same calls.
contract RandomCalls is LineModel {
    enum Kind {
        TopUp,
        HeldTopUp,
        RepayFor,
        RevokeTopUp,
        HeldRepayFor,
        RevokeRepayment,
        ExtendHold,
        Repeat,
        Many,
        Draw,
        Repay,
        RepayFromCollateral,
        Withdraw,
        AddYield,
        MarkDefault,
        SeizeMore,
        SetVerified,
        SetFrozen,
        Pause,
        Unpause,
        Donate,
        SetAutoRepay,
        AutoRepay
    }

    /// @dev Kinds of calls, repeated by weight.
    bytes private constant WEIGHTS = hex"000000000000" hex"010101010101010101" hex"02020202020202"
        hex"03030303" hex"0404040404040404040404040404" hex"050505050505050505"
        hex"06060606060606" hex"070707" hex"0808080808" hex"0909090909090909090909090909"
        hex"0a0a0a0a" hex"0b0b0b" hex"0c0c0c0c0c" hex"0d0d" hex"0e0e0e" hex"0f0f0f0f0f0f" hex"10" hex"11" hex"14"
        hex"151515" hex"1616";
    uint256 private constant AUSD = 1e6;
    uint256 private constant HISTORY_MAX = 64;
    bytes4 private constant PANIC = 0x4e487b71;

    uint256[23] private _tried;
    uint256[23] private _accepted;
    uint256 private _random;
    uint256 private _refs;
    Step[] private _history;
    bool private immutable _withYield;

    /// @dev The contract needs AUSD, and with yield the admin's role.
    constructor(address line, uint256 users, bool withYield) LineModel(line, users) {
        _withYield = withYield;
        _token.approve(line, type(uint256).max);
    }

    /// @notice Returns the accounts that need AUSD before `begin`.
    function people() external view returns (address[] memory all) {
        all = new address[](_users.length);
        for (uint256 i = 0; i < all.length; i++) all[i] = _addressOf(i);
    }

    /// @notice Returns the number of calls made and accepted, by kind.
    function counts() external view returns (uint256[23] memory, uint256[23] memory) {
        return (_tried, _accepted);
    }

    /// @notice Verifies the users and stores their balances.
    function begin() external {
        for (uint256 i = 0; i < _users.length; i++) {
            address person = _addressOf(i);
            _users[i].walletBefore = _token.balanceOf(person);
            _users[i].verified = true;
            _views.setVerified(person, true);
        }
    }

    /// @notice Makes `calls` random calls and checks the invariants after each.
    function run(uint256 seed, uint256 calls) external {
        // The seed is hashed again, because seeds may be a chain of the same hash.
        _random = uint256(keccak256(abi.encode(seed, address(this))));
        _tick();
        for (uint256 i = 0; i < calls; i++) {
            _call++;
            uint8 user = uint8(_pick(_users.length));
            Kind kind = Kind(uint8(WEIGHTS[_pick(WEIGHTS.length)]));
            if (_paused && _pick(25) == 0) kind = Kind.Unpause;
            else if (!_paused && _pick(400) == 0) kind = Kind.Pause;
            // These calls run before the others, which repay most overdue debt.
            else if (i < 2 && _pick(3) == 0) kind = Kind.MarkDefault;
            else if (i == 2 && _pick(2) == 0) kind = Kind.AutoRepay;
            _kind = uint256(kind);
            _tried[_kind]++;
            if (_make(kind, user)) _accepted[_kind]++;
            _check(user);
            _checkTotals();
        }
        _checkAll();
    }

    /// @notice Ends a pause, because no term ends during one.
    function rest() external {
        _tick();
        if (_paused) _views.unpause();
        _paused = false;
    }

    /// @notice Closes all debts, withdraws every account's exact balance and checks that nothing is
    /// left. It must be called after every hold and term ended.
    function finish() external {
        _tick();
        for (uint256 i = 0; i < _users.length; i++) {
            address person = _addressOf(i);
            _views.setFrozen(person, false);
            _users[i].frozen = false;
            if (_users[i].drawn > 0 && !_users[i].defaulted) {
                uint256 dueAt = _account(i).dueAt;
                _views.markDefault(person);
                _default(i, dueAt);
            }
            if (_users[i].drawn > 0 && _account(i).collateral > 0) {
                _views.seizeMore(person);
                _round(_users[i]);
                _payBack(i, _users[i].drawn - _account(i).drawn);
            }
            CreditLineTypes.Account memory account = _account(i);
            _atMost("owed at the end", account.drawn, _users[i].slack);
            _same("held at the end", account.pendingShares + account.encumbered, 0);
            if (account.collateral == 0 || account.drawn > 0) continue;
            bytes memory data =
                abi.encodeCall(CreditLine.withdrawCollateral, (account.collateral, person));
            (bool left,) = _users[i].person.act(data);
            _same("left at the end", left ? 1 : 0, 1);
            _check(i);
        }
        _checkTotals();
        if (_yield == 0) _same("shares at the end", _views.totalShares(), 0);
        if (_yield == 0) _same("collateral at the end", _views.totalCollateral(), 0);
    }

    function _pick(uint256 below) private returns (uint256) {
        _random = uint256(keccak256(abi.encode(_random)));
        return _random % below;
    }

    /// @dev Returns an amount from one unit to `most`, biased towards both ends.
    function _amount(uint256 most) private returns (uint256) {
        if (most == 0) return 1;
        uint256 way = _pick(8);
        if (way == 0) return 1;
        return way == 1 ? most : 1 + _pick(most);
    }

    function _make(Kind kind, uint8 user) private returns (bool) {
        if (kind <= Kind.ExtendHold) return _relay(_step(uint8(kind), user), user);
        if (kind == Kind.Repeat) return _repeat();
        if (kind == Kind.Many) return _many();
        if (kind == Kind.Draw) return _draw(user);
        if (kind == Kind.Repay || kind == Kind.RepayFromCollateral) return _payDebt(kind, user);
        if (kind == Kind.Withdraw) return _withdraw(user);
        if (kind == Kind.SetAutoRepay) return _allowAuto(user);
        if (kind == Kind.AutoRepay) return _orderAuto(user);
        if (kind == Kind.MarkDefault || kind == Kind.SeizeMore) return _claim(kind, user);
        return _operate(kind, user);
    }

    /// @dev Returns `accepted`. A refused call must revert with an error of the contract, not panic.
    function _sane(bool accepted, bytes memory answer) private view returns (bool) {
        if (accepted) return true;
        _same("a refusal says why", answer.length >= 4 ? 1 : 0, 1);
        _same("panic", bytes4(answer) == PANIC ? 1 : 0, 0);
        return false;
    }

    function _send(bytes memory data) private returns (bool) {
        (bool accepted, bytes memory answer) = address(_line).call(data);
        return _sane(accepted, answer);
    }

    function _sendAs(uint8 user, bytes memory data) private returns (bool) {
        (bool accepted, bytes memory answer) = _users[user].person.act(data);
        return _sane(accepted, answer);
    }

    /// @dev Returns a new operation, or one on a current or past hold.
    function _step(uint8 kind, uint8 user) private returns (Step memory step) {
        CreditLineTypes.Op memory op = step.op;
        step.user = user;
        op.kind = kind;
        if (kind == 3 || kind >= 5) {
            bool fromLive = _live.length > 0 && (_history.length == 0 || _pick(8) > 0);
            for (uint256 i = 0; fromLive && i < 4; i++) {
                op.ref = _live[_pick(_live.length)];
                if (kind == 6 || _holds[op.ref].repayment == (kind == 5)) break;
            }
            if (!fromLive && _history.length > 0) op.ref = _history[_pick(_history.length)].op.ref;
            step.user = _holds[op.ref].user;
            // The amount left is everything, a part, or nothing.
            if (kind != 6 && _pick(3) == 0) op.amount = _pick(50 * AUSD);
            return step;
        }
        op.ref = bytes32((uint256(uint160(address(this))) << 96) | ++_refs);
        op.account = _addressOf(user);
        uint256 drawn = _users[user].drawn;
        bool repays = kind == 2 || kind == 4;
        uint256 way = repays ? _pick(4) : 3;
        if (way == 3 || drawn == 0) op.amount = _amount(40 * AUSD);
        else if (way == 0) op.amount = drawn;
        else if (way == 1) op.amount = _amount(drawn);
        else op.amount = drawn + _amount(10 * AUSD);
        // The time is from nine days ago to a day ahead, or zero.
        if (repays && _pick(4) > 0) op.paidAt = uint64(block.timestamp + _pick(10 days) - 9 days);
    }

    function _dataOf(CreditLineTypes.Op memory op) private pure returns (bytes memory) {
        if (op.kind <= 1) {
            return abi.encodeCall(RelayedOps.topUp, (op.ref, op.account, op.amount, op.kind == 1));
        }
        if (op.kind == 3) return abi.encodeCall(RelayedOps.revokeTopUp, (op.ref, op.amount));
        if (op.kind == 5) return abi.encodeCall(RelayedOps.revokeRepayment, (op.ref, op.amount));
        if (op.kind == 6) return abi.encodeCall(RelayedOps.extendHold, (op.ref));
        bool held = op.kind == 4;
        return
            abi.encodeCall(RelayedOps.repayFor, (op.ref, op.account, op.amount, held, op.paidAt));
    }

    function _relay(Step memory step, uint256 user) private returns (bool accepted) {
        bool expected = _expected(step);
        uint256 before = _token.balanceOf(_treasury);
        accepted = _send(_dataOf(step.op));
        _same("relayed", accepted ? 1 : 0, expected ? 1 : 0);
        if (!accepted) return false;
        bool revokes = step.op.kind == 3 || step.op.kind == 5;
        uint256 whole = _left(_holds[step.op.ref]);
        _apply(step);
        uint256 back = revokes ? whole - _left(_holds[step.op.ref]) : 0;
        if (revokes) _same("sent back", _token.balanceOf(_treasury) - before, back);
        if (step.user != user) _check(step.user);
    }

    /// @dev Applies an accepted operation to the model.
    function _apply(Step memory step) private {
        CreditLineTypes.Op memory op = step.op;
        Hold storage hold = _holds[op.ref];
        if (op.kind == 3 || op.kind == 5) return _revoke(hold, op.amount);
        if (op.kind == 6) return _extend(hold);
        uint256 drawn = _users[step.user].drawn;
        uint256 repaid = op.kind < 2 ? 0 : op.amount < drawn ? op.amount : drawn;
        _credit(step.user, op.amount);
        if (op.kind == 1 || op.kind == 4) {
            _hold(op.ref, step.user, repaid, op.amount - repaid, op.kind == 4);
        }
        _payBack(step.user, repaid);
        if (_history.length < HISTORY_MAX) _history.push(step);
        else _history[_pick(HISTORY_MAX)] = step;
    }

    /// @dev Repeats an operation. The same content has no effect, and other content is refused;
    /// neither changes state.
    function _repeat() private returns (bool accepted) {
        if (_history.length == 0) return false;
        Step memory step = _history[_pick(_history.length)];
        uint256 change = _pick(4);
        if (change == 1) step.op.amount++;
        else if (change == 2) step.op.kind = [1, 0, 4, 3, 2][step.op.kind];
        else if (change == 3 && step.op.kind >= 2) step.op.paidAt++;
        else change = 0;
        accepted = _send(_dataOf(step.op));
        _same("repeated", accepted ? 1 : 0, change == 0 && !_paused ? 1 : 0);
        _check(step.user);
    }

    function _many() private returns (bool accepted) {
        Step[] memory steps = new Step[](1 + _pick(4));
        CreditLineTypes.Op[] memory ops = new CreditLineTypes.Op[](steps.length);
        for (uint256 i = 0; i < steps.length; i++) {
            steps[i] = _step(uint8(_pick(7)), uint8(_pick(_users.length)));
            if (_pick(10) == 0) steps[i].op.kind = 7;
            ops[i] = steps[i].op;
        }
        accepted = _send(abi.encodeCall(RelayedOps.many, (ops)));
        _same("many", accepted ? 1 : 0, 1);
        for (uint256 i = 0; i < steps.length; i++) {
            if (_expected(steps[i])) _apply(steps[i]);
        }
        _checkAll();
    }

    function _draw(uint8 user) private returns (bool accepted) {
        CreditLineTypes.Account memory account = _account(user);
        uint256 amount = _amount(_pick(4) == 0 ? account.limit + AUSD : account.available);
        // A small debt reaches about the least debt-time after a while.
        if (_pick(3) == 0) amount = 1 + _pick(AUSD);
        (address to, bool right) = _recipient(user);
        accepted = _sendAs(user, abi.encodeCall(CreditLine.draw, (amount, to)));
        _same("draw", accepted ? 1 : 0, right && amount <= account.available ? 1 : 0);
        if (!accepted) return false;
        _borrow(user, amount);
        account = _account(user);
        _atMost("drawn", account.drawn + account.encumbered, account.limit);
    }

    function _withdraw(uint8 user) private returns (bool accepted) {
        CreditLineTypes.Account memory account = _account(user);
        uint256 used = account.drawn + account.encumbered;
        uint256 needed = (used * 10_000 + account.ratioBps - 1) / account.ratioBps;
        uint256 most = account.collateral > needed ? account.collateral - needed : 0;
        (address to, bool right) = _recipient(user);
        if (!right || account.frozen || _paused || (account.defaulted && used > 0)) most = 0;
        uint256 amount = _amount(_pick(4) == 0 ? account.collateral + AUSD : most);
        accepted = _sendAs(user, abi.encodeCall(CreditLine.withdrawCollateral, (amount, to)));
        // With yield, the shares that are burned are worth up to a share more.
        uint256 rounding = _yield == 0 || amount == account.collateral ? 0 : _users[user].slack + 2;
        if (accepted || amount + rounding <= most) {
            _same("withdrawal", accepted ? 1 : 0, amount <= most ? 1 : 0);
        }
        if (!accepted) return false;
        _round(_users[user]);
        account = _account(user);
        _atMost("left", account.drawn + account.encumbered, account.limit);
    }

    /// @dev Returns the user or, now and then, an address that the line must refuse.
    function _recipient(uint8 user) private returns (address to, bool right) {
        if (_pick(20) > 0) return (_addressOf(user), true);
        return ([_treasury, address(_token), address(_line), address(0)][_pick(4)], false);
    }

    function _payDebt(Kind kind, uint8 user) private returns (bool accepted) {
        uint256 drawn = _users[user].drawn;
        uint256 amount = _amount(drawn + (_pick(2) == 0 ? 0 : AUSD));
        uint256 repaid = amount < drawn ? amount : drawn;
        bool own = kind == Kind.Repay;
        bool allowed = drawn > 0 && (own || repaid <= _account(user).collateral);
        bytes memory data = own
            ? abi.encodeCall(CreditLine.repay, (amount))
            : abi.encodeCall(CreditLine.repayFromCollateral, (amount));
        accepted = _sendAs(user, data);
        _same("repayment", accepted ? 1 : 0, allowed ? 1 : 0);
        if (!accepted) return false;
        if (!own) _round(_users[user]);
        _payBack(user, repaid);
    }

    /// @dev Sets, ends or repeats a permission, or asks for more than the contract can store.
    function _allowAuto(uint8 index) private returns (bool accepted) {
        User storage user = _users[index];
        uint256 max = 0;
        uint256 way = _pick(6);
        if (way < 2) max = 1 + _pick(2 * AUSD);
        else if (way == 2) max = _amount(20 * AUSD);
        else if (way == 3) max = type(uint96).max;
        // A bound that is raised within a cycle may give no more than the difference.
        uint256 taken = _autoTaken(user);
        if (taken > 0 && _pick(2) == 0) max = taken + _pick(AUSD);
        if (_pick(20) == 0) max = uint256(type(uint96).max) + 1 + _pick(AUSD);
        bool fromCollateral = _pick(2) == 0;
        uint256 events = _account(index).events;
        accepted = _sendAs(index, abi.encodeCall(AutoRepay.setAutoRepay, (max, fromCollateral)));
        _same("permission", accepted ? 1 : 0, max <= type(uint96).max ? 1 : 0);
        if (!accepted) return false;
        fromCollateral = fromCollateral && max > 0;
        bool same = max == user.autoMax && fromCollateral == user.autoCollateral;
        _same("events of a permission", _account(index).events - events, same ? 0 : 1);
        (user.autoMax, user.autoCollateral) = (max, fromCollateral);
    }

    /// @dev Has a user order the repayment of each user in turn, until one is accepted. That user's
    /// permission may then change, whereupon it is ordered again in the same cycle.
    function _orderAuto(uint8 by) private returns (bool accepted) {
        for (uint256 i = 0; i < _users.length && !accepted; i++) {
            uint8 one = uint8((by + i) % _users.length);
            accepted = _orderAutoOf(by, one);
            if (accepted && _pick(2) == 0 && _allowAuto(one)) _orderAutoOf(by, one);
        }
    }

    function _orderAutoOf(uint8 by, uint8 one) private returns (bool accepted) {
        address person = _addressOf(one);
        uint256 amount = _autoAmount(_users[one], _account(one));
        uint256 wallet = _token.balanceOf(person);
        accepted = _sendAs(by, abi.encodeCall(AutoRepay.autoRepay, (person)));
        _same("automatic repayment", accepted ? 1 : 0, amount > 0 ? 1 : 0);
        if (!accepted) return false;
        uint256 paid = wallet - _token.balanceOf(person);
        _same("paid by the wallet", paid, _users[one].autoCollateral ? 0 : amount);
        _autoRepaid(one, amount);
        _check(one);
    }

    /// @dev Marks a default or seizes more, for the first user to whom it applies.
    function _claim(Kind kind, uint8 user) private returns (bool accepted) {
        bool defaults = kind == Kind.MarkDefault;
        for (uint256 i = 0; i < _users.length && !accepted; i++) {
            uint256 one = (user + i) % _users.length;
            User storage whose = _users[one];
            if (!defaults && (!whose.defaulted || whose.drawn == 0)) continue;
            address person = _addressOf(one);
            uint256 dueAt = _account(one).dueAt;
            accepted = _send(
                defaults
                    ? abi.encodeCall(CreditLineExtension.markDefault, (person))
                    : abi.encodeCall(CreditLineExtension.seizeMore, (person))
            );
            if (!accepted) continue;
            if (defaults) _default(one, dueAt);
            else {
                _round(whose);
                _payBack(one, whose.drawn - _account(one).drawn);
            }
            _check(one);
        }
    }

    function _operate(Kind kind, uint8 user) private returns (bool) {
        address person = _addressOf(user);
        if (kind == Kind.AddYield) return _addYield(_amount(AUSD / 2));
        if (kind == Kind.Donate) return _donate(_amount(AUSD));
        if (kind == Kind.SetVerified) {
            _users[user].verified = _pick(4) > 0;
            _views.setVerified(person, _users[user].verified);
        } else if (kind == Kind.SetFrozen) {
            _users[user].frozen = _pick(4) == 0;
            _views.setFrozen(person, _users[user].frozen);
        } else {
            _paused = kind == Kind.Pause;
            if (_paused) _views.pause();
            else _views.unpause();
        }
        return true;
    }

    /// @dev Transfers AUSD to the line without a call, which credits it to no account.
    function _donate(uint256 amount) private returns (bool) {
        _donated += amount;
        return _token.transfer(address(_line), amount);
    }

    /// @dev Adds yield only while shares exist, because yield for nobody raises the price of the
    /// next share.
    function _addYield(uint256 amount) private returns (bool) {
        if (!_withYield || _views.totalShares() == 0) return false;
        _views.addYield(amount);
        _yield += amount;
        return true;
    }
}
