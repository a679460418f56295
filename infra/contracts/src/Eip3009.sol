// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title ERC-3009: token transfers authorised by an off-chain signature
/// @notice Errors, overloads and the order of checks follow Agora's AUSD, with one difference: a
/// high-s ECDSA signature is refused here and accepted there.
/// @dev Type hashes are those of https://eips.ethereum.org/EIPS/eip-3009. The EIP-712 domain and
/// its `eip712Domain()` are those of permit.
abstract contract Eip3009 is ERC20Permit {
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    /// @dev The signed authorization. It is a struct so that both overloads share one path.
    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    mapping(address authorizer => mapping(bytes32 nonce => bool)) private _authorizationStates;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    /// @notice `receiveWithAuthorization` was not called by the payee.
    error InvalidPayee(address caller, address payee);
    /// @notice The authorization is not valid yet: the block time must be past `validAfter`.
    error InvalidAuthorization();
    /// @notice The block time has reached `validBefore`.
    error ExpiredAuthorization();
    /// @notice Neither ECDSA nor ERC-1271 accepts the signature for this authorizer.
    error InvalidSignature();
    /// @notice The (authorizer, nonce) pair was used or cancelled before.
    error UsedOrCanceledAuthorization();

    /// @notice Returns true once the nonce was used or cancelled. The events show which.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _authorizationStates[authorizer][nonce];
    }

    /// @notice Moves `value` from `from` to `to`. Anyone may submit.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _transferAuthorized(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            abi.encodePacked(r, s, v)
        );
    }

    /// @notice Moves `value` as the overload above does, for signatures of any length (ERC-1271
    /// wallets).
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _transferAuthorized(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            signature
        );
    }

    /// @notice Pulls `value` from `from`. Only the payee may submit.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _onlyPayee(to);
        _transferAuthorized(
            RECEIVE_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            abi.encodePacked(r, s, v)
        );
    }

    /// @notice Pulls `value` as the overload above does, for signatures of any length (ERC-1271
    /// wallets).
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _onlyPayee(to);
        _transferAuthorized(
            RECEIVE_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            signature
        );
    }

    /// @notice Cancels an unused authorization, signed by its authorizer.
    function cancelAuthorization(
        address authorizer,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _cancel(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Cancels as the overload above does, for signatures of any length (ERC-1271 wallets).
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature)
        external
    {
        _cancel(authorizer, nonce, signature);
    }

    function _transferAuthorized(
        bytes32 typeHash,
        Authorization memory authorization,
        bytes memory signature
    ) private {
        _requireSignaturesAccepted();
        if (block.timestamp <= authorization.validAfter) revert InvalidAuthorization();
        if (block.timestamp >= authorization.validBefore) revert ExpiredAuthorization();
        _requireUnused(authorization.from, authorization.nonce);
        bytes32 structHash = keccak256(abi.encode(typeHash, authorization));
        _requireSigned(authorization.from, structHash, signature);
        _authorizationStates[authorization.from][authorization.nonce] = true;
        emit AuthorizationUsed(authorization.from, authorization.nonce);
        _transfer(authorization.from, authorization.to, authorization.value);
    }

    function _cancel(address authorizer, bytes32 nonce, bytes memory signature) private {
        _requireUnused(authorizer, nonce);
        _requireSigned(
            authorizer,
            keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)),
            signature
        );
        _authorizationStates[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// @dev Reverts unless the issuer allows transfers by signature. This is checked first.
    function _requireSignaturesAccepted() internal view virtual;

    function _onlyPayee(address to) private view {
        if (to != msg.sender) revert InvalidPayee(msg.sender, to);
    }

    function _requireUnused(address authorizer, bytes32 nonce) private view {
        if (_authorizationStates[authorizer][nonce]) revert UsedOrCanceledAuthorization();
    }

    /// @dev Reverts unless the signature is valid. ECDSA is tried first even for accounts with
    /// code, because a delegated EOA keeps its key.
    function _requireSigned(address signer, bytes32 structHash, bytes memory signature)
        private
        view
    {
        bytes32 digest = _hashTypedDataV4(structHash);
        if (signer != address(0) && _recovered(digest, signature) == signer) return;
        if (signer.code.length == 0) revert InvalidSignature();
        if (!SignatureChecker.isValidERC1271SignatureNow(signer, digest, signature)) {
            revert InvalidSignature();
        }
    }

    /// @dev Returns the signer of 65 bytes (r, s, v) or of 64 bytes (r and vs, EIP-2098); zero if
    /// there is none.
    function _recovered(bytes32 digest, bytes memory signature) private pure returns (address) {
        if (signature.length != 64) {
            (address signer, ECDSA.RecoverError fault,) = ECDSA.tryRecover(digest, signature);
            return fault == ECDSA.RecoverError.NoError ? signer : address(0);
        }
        (bytes32 r, bytes32 vs) = abi.decode(signature, (bytes32, bytes32));
        (address short, ECDSA.RecoverError wrong,) = ECDSA.tryRecover(digest, r, vs);
        return wrong == ECDSA.RecoverError.NoError ? short : address(0);
    }
}
