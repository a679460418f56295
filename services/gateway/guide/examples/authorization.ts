import { toHex } from 'viem'
import { domain } from './chain'
import { account } from './setup'

// Signs an ERC-3009 authorization and prints the JSON that requests carry, like the client's `signTransfer`.
const [to, value = '0'] = process.argv.slice(2)
const terms = {
  from: account.address,
  to: to as `0x${string}`,
  value, // 10⁻⁶ AUSD
  validAfter: '0',
  validBefore: String(Math.floor(Date.now() / 1000) + 3_600),
  nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
}
const signature = await account.signTypedData({
  domain,
  primaryType: 'TransferWithAuthorization',
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  message: {
    ...terms,
    value: BigInt(terms.value),
    validAfter: BigInt(terms.validAfter),
    validBefore: BigInt(terms.validBefore),
  },
})
console.log(JSON.stringify({ ...terms, signature }))
