// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The part of Multicall3 that clients use for batched reads
/// @notice ABI-compatible with the one at 0xcA11bde05977b3631167028862bE2a173976CA11, so that a
/// local chain answers as the public ones do. Stateless.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice A call that may not fail did fail.
    error CallFailed(uint256 index);

    /// @notice Runs the calls in order; a failure is reported in its result or reverts all.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory returnData) = calls[i].target.call(calls[i].callData);
            if (!success && !calls[i].allowFailure) revert CallFailed(i);
            results[i] = Result(success, returnData);
        }
    }

    /// @notice Number of the block the batch is answered from.
    function getBlockNumber() external view returns (uint256) {
        return block.number;
    }

    /// @notice Unix seconds of the block the batch is answered from.
    function getCurrentBlockTimestamp() external view returns (uint256) {
        return block.timestamp;
    }

    /// @notice Native balance of `account` in wei.
    function getEthBalance(address account) external view returns (uint256) {
        return account.balance;
    }
}
