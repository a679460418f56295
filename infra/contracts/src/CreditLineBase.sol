// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CollateralPool} from "./CollateralPool.sol";
import {Cycles} from "./Cycles.sol";

/// @title Terms, state and roles shared by the credit line and its extension
/// @dev Both use the credit line's storage. A variable added here or in a base contract exists in
/// both; a variable of only one of them must come after these.
abstract contract CreditLineBase is Cycles, AccessControl, Pausable {
    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");
    bytes32 public constant VERIFIER_ROLE = keccak256("VERIFIER_ROLE");
    bytes32 public constant PAUSER_ROLE = keccak256("PAUSER_ROLE");

    constructor(Terms memory terms) CollateralPool(terms.token, terms.treasury) Cycles(terms) {
        if (terms.admin == address(0)) revert ZeroAddress();
        _grantRole(DEFAULT_ADMIN_ROLE, terms.admin);
        _grantRole(PAUSER_ROLE, terms.admin);
    }

    /// @dev Refuses recipients and amounts. AUSD sent to the contract itself or to its token would
    /// be lost.
    function _requirePayable(uint256 amount, address to) internal view {
        if (amount == 0) revert ZeroAmount();
        if (to == address(0) || to == address(this) || to == address(_token)) {
            revert InvalidRecipient(to);
        }
    }
}
