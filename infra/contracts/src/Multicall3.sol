// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The functions of Multicall3 that clients use for batched reads
/// @notice The contract is stateless. Its ABI is that of the contract at
/// 0xcA11bde05977b3631167028862bE2a173976CA11, so that a local chain behaves like the public ones.
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

    /// @notice A call that must not fail failed.
    error CallFailed(uint256 index);

    /// @notice Runs the calls in order. A failure is reported in its result, or reverts the batch.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory returnData) = calls[i].target.call(calls[i].callData);
            if (!success && !calls[i].allowFailure) revert CallFailed(i);
            results[i] = Result(success, returnData);
        }
    }

    /// @notice Returns the number of the block in which the batch runs.
    function getBlockNumber() external view returns (uint256) {
        return block.number;
    }

    /// @notice Returns the Unix time of the block in which the batch runs.
    function getCurrentBlockTimestamp() external view returns (uint256) {
        return block.timestamp;
    }

    /// @notice Returns the native balance of `account` in wei.
    function getEthBalance(address account) external view returns (uint256) {
        return account.balance;
    }
}
