// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A test wallet that distinguishes a simulation from a transaction
/// @notice Accepts any signature in a simulation, and burns all its gas in a real transaction.
contract TrickWallet is IERC1271 {
    /// @notice Value that reveals a transaction.
    enum Tell {
        GasPrice,
        Origin,
        GasLeft,
        Coinbase
    }

    Tell public immutable tell;
    address public immutable lane;

    /// @param lane_ sender that the wallet accepts; used only if `tell_` is `Origin`
    constructor(Tell tell_, address lane_) {
        tell = tell_;
        lane = lane_;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (!_looksFree()) {
            assembly {
                invalid()
            }
        }
        return IERC1271.isValidSignature.selector;
    }

    function _looksFree() private view returns (bool) {
        if (tell == Tell.Origin) return tx.origin == address(0) || tx.origin == lane;
        if (tell == Tell.GasLeft) return gasleft() > 600_000;
        if (tell == Tell.Coinbase) return uint160(address(block.coinbase)) % 2 == 0;
        return tx.gasprice == 0;
    }
}
