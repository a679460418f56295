// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title A user of the credit line, controlled by a test
contract Person {
    address private immutable _owner = msg.sender;
    address private immutable _line;

    constructor(IERC20 token, address line) {
        _line = line;
        token.approve(line, type(uint256).max);
    }

    /// @notice Calls the credit line as this user.
    function act(bytes calldata data) external returns (bool done, bytes memory answer) {
        require(msg.sender == _owner);
        return _line.call(data);
    }
}
