// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A contract wallet for tests
/// @notice Accepts its owner's ECDSA signature, wrapped as `abi.encode(bytes32, bytes)` with a tag.
/// The result is longer than 65 bytes, so only the ERC-1271 path can accept it.
contract OwnedWallet is IERC1271 {
    bytes32 public constant TAG = keccak256("OwnedWallet");
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata wrapped) external view returns (bytes4) {
        (bytes32 tag, bytes memory signature) = abi.decode(wrapped, (bytes32, bytes));
        (address signer, ECDSA.RecoverError fault,) = ECDSA.tryRecover(hash, signature);
        bool valid = tag == TAG && fault == ECDSA.RecoverError.NoError && signer == owner;
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
