// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {Eip3009} from "./Eip3009.sol";

/// @title Stand-in for Agora's AUSD on local chains
/// @notice ERC-20 with EIP-2612 and ERC-3009 under the EIP-712 domain of the real token, which is
/// "Agora Dollar" although the ERC-20 name is "AUSD". Minting replaces the faucet. The issuer's
/// switches have the real token's errors and views (github.com/agora-finance): freezing an account,
/// refusing frozen accounts as callers too, pausing all transfers, or pausing transfers by
/// signature.
contract Ausd is Eip3009, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

    mapping(address account => bool) public isAccountFrozen;
    /// @dev Number of frozen accounts. They are looked up only if there are any: the real token
    /// stores the flag in the balance's slot, so checking it adds no gas there either.
    uint64 private _frozenCount;
    bool public isTransferPaused;
    bool public isSignatureVerificationPaused;
    bool public isMsgSenderFrozenCheckEnabled;

    /// @notice The issuer froze the sender, the receiver or the caller of this transfer.
    error AccountIsFrozen(address frozenAccount);
    /// @notice The issuer stopped all transfers.
    error TransferPaused();
    /// @notice The issuer stopped permits and transfers by signature.
    error SignatureVerificationPaused();

    constructor(address admin) ERC20("AUSD", "AUSD") ERC20Permit("Agora Dollar") {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(MINTER_ROLE, admin);
    }

    /// @notice One AUSD is 10^6 units.
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Creates `amount` units for `to`.
    function mint(address to, uint256 amount) external onlyRole(MINTER_ROLE) {
        _mint(to, amount);
    }

    /// @notice Freezes or unfreezes an account. A frozen account can neither send nor receive.
    function setAccountFrozen(address account, bool frozen) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (isAccountFrozen[account] == frozen) return;
        isAccountFrozen[account] = frozen;
        frozen ? _frozenCount++ : _frozenCount--;
    }

    function setTransferPaused(bool paused) external onlyRole(DEFAULT_ADMIN_ROLE) {
        isTransferPaused = paused;
    }

    function setSignatureVerificationPaused(bool paused) external onlyRole(DEFAULT_ADMIN_ROLE) {
        isSignatureVerificationPaused = paused;
    }

    /// @notice Makes the token refuse calls by frozen accounts, also those that move the AUSD of others.
    function setIsMsgSenderFrozenCheckEnabled(bool enabled) external onlyRole(DEFAULT_ADMIN_ROLE) {
        isMsgSenderFrozenCheckEnabled = enabled;
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        _requireCallerNotFrozen();
        return super.transferFrom(from, to, value);
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        if (isSignatureVerificationPaused) revert SignatureVerificationPaused();
        super.permit(owner, spender, value, deadline, v, r, s);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (isTransferPaused) revert TransferPaused();
        if (_frozenCount != 0) {
            if (isAccountFrozen[from]) revert AccountIsFrozen(from);
            if (isAccountFrozen[to]) revert AccountIsFrozen(to);
        }
        super._update(from, to, value);
    }

    function _requireSignaturesAccepted() internal view override {
        if (isTransferPaused) revert TransferPaused();
        if (isSignatureVerificationPaused) revert SignatureVerificationPaused();
        _requireCallerNotFrozen();
    }

    function _requireCallerNotFrozen() private view {
        if (_frozenCount == 0 || !isMsgSenderFrozenCheckEnabled) return;
        if (isAccountFrozen[msg.sender]) revert AccountIsFrozen(msg.sender);
    }
}
