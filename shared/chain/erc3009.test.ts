import { expect, test } from 'bun:test'
import { getAddress, hashTypedData, keccak256, toHex } from 'viem'
import { erc3009Types, typedTransfer } from '#shared/chain/erc3009'
import { canonical } from '#shared/chain/given-authorization'

const given = {
  from: getAddress('0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'),
  to: getAddress('0xabcdefabcdefabcdefabcdefabcdefabcdefabcd'),
  value: '0005000000',
  validAfter: '00',
  validBefore: '1790000000',
  nonce: `0x${'Ab'.repeat(32)}`,
  signature: `0x${'Cd'.repeat(65)}`,
}

test('an authorization has one canonical form', () => {
  expect(canonical(given)).toEqual({
    from: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
    to: '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd',
    value: '5000000',
    validAfter: '0',
    validBefore: '1790000000',
    nonce: `0x${'ab'.repeat(32)}`,
    signature: `0x${'cd'.repeat(65)}`,
  })
  expect(canonical(canonical(given))).toEqual(canonical(given))
})

test('the signed type is that of ERC-3009', () => {
  const fields = erc3009Types.TransferWithAuthorization.map(({ name, type }) => `${type} ${name}`)
  expect(keccak256(toHex(`TransferWithAuthorization(${fields.join(',')})`))).toBe(
    '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
  )
})

test('the signed hash depends on every field, and not on its spelling', () => {
  const domain = {
    name: 'Agora Dollar',
    version: '1',
    chainId: 10_143,
    verifyingContract: `0x${'1'.repeat(40)}`,
  } as const
  const signed = canonical(given)
  const digest = hashTypedData(typedTransfer(domain, signed))
  expect(hashTypedData(typedTransfer(domain, given))).toBe(digest)
  const others = [
    { ...signed, from: signed.to },
    { ...signed, to: signed.from },
    { ...signed, value: '5000001' },
    { ...signed, validAfter: '1' },
    { ...signed, validBefore: '1790000001' },
    { ...signed, nonce: `0x${'ac'.repeat(32)}` },
  ].map((terms) => hashTypedData(typedTransfer(domain, terms)))
  const elsewhere = hashTypedData(typedTransfer({ ...domain, chainId: 1 }, signed))
  expect(new Set([digest, elsewhere, ...others]).size).toBe(8)
})
