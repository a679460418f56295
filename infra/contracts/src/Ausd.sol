// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {Eip3009} from "./Eip3009.sol";

/// @title Stand-in for Agora's AUSD on local chains
/// @notice ERC-20 with EIP-2612 and ERC-3009 under the EIP-712 domain of the real token, which is
/// named "Agora Dollar" while the ERC-20 name is "AUSD". Minting replaces the faucet.
contract Ausd is Eip3009, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

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
}
