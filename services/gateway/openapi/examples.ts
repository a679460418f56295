/** A signed transfer as the document shows it; the signature is shortened to one value repeated. */
export const exampleAuthorization = {
  from: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  to: '0x1111111111111111111111111111111111111111',
  value: '5000000',
  validAfter: '0',
  validBefore: '1795246200',
  nonce: `0x${'5a'.repeat(32)}`,
  signature: `0x${'1b'.repeat(65)}`,
}
