import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  encodeAbiParameters,
  encodeDeployData,
  type Hex,
  keccak256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature,
  toBytes,
} from 'viem'
import { ownedWalletAbi, ownedWalletBytecode } from '#infra/contracts/artifacts.gen'
import { authorizationFields, cancelTypes } from '#shared/chain/erc3009'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const budi = actors.budi.address
const domain = {
  name: 'Agora Dollar',
  version: '1',
  chainId: 10143,
  verifyingContract: fixture.deployment.ausd,
} as const
const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  ...cancelTypes,
} as const
const secpOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const far = 2n ** 48n
const terms = {
  from: ana,
  to: budi,
  value: 5_000_000n,
  validAfter: 0n,
  validBefore: far,
  nonce: refOf(1),
}
type TransferMessage = typeof terms
type Kind = 'TransferWithAuthorization' | 'ReceiveWithAuthorization'

const sign = (message: TransferMessage = terms, primaryType: Kind = 'TransferWithAuthorization') =>
  actors.ana.signTypedData({ domain, types, primaryType, message })
const signCancel = () =>
  actors.ana.signTypedData({
    domain,
    types,
    primaryType: 'CancelAuthorization',
    message: { authorizer: ana, nonce: terms.nonce },
  })
const split = (signature: Hex) => {
  const { r, s, yParity } = parseSignature(signature)
  return [yParity + 27, r, s] as const
}
const fields = (message: TransferMessage = terms) =>
  [message.from, message.to, message.value, message.validAfter, message.validBefore, message.nonce] as const
const transfer = 'transferWithAuthorization'
const refusal = async (message: TransferMessage, signature?: Hex) =>
  fixture.refusal('relayer', 'ausd', transfer, [...fields(message), signature ?? (await sign(message))])

describe('a transfer by authorization', () => {
  test.each(['bytes', 'v, r, s'])(
    'a transfer by authorization with the %s overload moves the amount and uses the nonce',
    async (form) => {
      const signature = await sign()
      const before = await fixture.balanceOf(budi)
      const sent =
        form === 'bytes'
          ? await fixture.send('relayer', 'ausd', transfer, [...fields(), signature])
          : await fixture.send('relayer', 'ausd', transfer, [...fields(), ...split(signature)])
      expect(sent.events).toMatchObject([
        { eventName: 'AuthorizationUsed', args: { authorizer: ana, nonce: terms.nonce } },
        { eventName: 'Transfer', args: { from: ana, to: budi, value: terms.value } },
      ])
      expect(await fixture.balanceOf(budi)).toBe(before + terms.value)
      expect(await refusal(terms)).toBe('UsedOrCanceledAuthorization')
      const replay = [...fields(), ...split(signature)] as const
      expect(await fixture.refusal('citra', 'ausd', transfer, replay)).toBe('UsedOrCanceledAuthorization')
    },
  )

  test('a transfer by authorization is valid only strictly within its window', async () => {
    const now = (await fixture.client.getBlock()).timestamp
    expect(await refusal({ ...terms, validAfter: now + 100n })).toBe('InvalidAuthorization')
    expect(await refusal({ ...terms, validAfter: now })).toBe('InvalidAuthorization')
    expect(await refusal({ ...terms, validAfter: now - 1n })).toBe('accepted')
    expect(await refusal({ ...terms, validBefore: now })).toBe('ExpiredAuthorization')
    expect(await refusal({ ...terms, validBefore: now + 1n })).toBe('accepted')
  })

  test('security: a transfer by authorization rejects every change to what was signed', async () => {
    const signature = await sign()
    for (const change of [
      { to: actors.citra.address },
      { value: terms.value + 1n },
      { validAfter: 1n },
      { validBefore: far - 1n },
      { nonce: refOf(2) },
      { from: budi },
    ]) {
      expect(await refusal({ ...terms, ...change }, signature)).toBe('InvalidSignature')
    }
    const received = await sign(terms, 'ReceiveWithAuthorization')
    expect(await refusal(terms, received)).toBe('InvalidSignature')
  })

  test('security: a transfer by authorization rejects the high-s twin of a good signature', async () => {
    const { r, s, yParity } = parseSignature(await sign())
    const highS = numberToHex(secpOrder - BigInt(s), { size: 32 })
    const twin = serializeSignature({ r, s: highS, yParity: yParity === 0 ? 1 : 0 })
    expect(await refusal(terms, twin)).toBe('InvalidSignature')
    const args = [...fields(), ...split(twin)] as const
    expect(await fixture.refusal('relayer', 'ausd', transfer, args)).toBe('InvalidSignature')
    expect(await refusal(terms, serializeSignature({ r, s, yParity }))).toBe('accepted')
  })

  test('a transfer by authorization accepts the 64 bytes of EIP-2098, and no other 64', async () => {
    const short = serializeCompactSignature(signatureToCompactSignature(parseSignature(await sign())))
    expect(await refusal({ ...terms, value: terms.value + 1n }, short)).toBe('InvalidSignature')
    expect(await refusal(terms, `0x${'11'.repeat(64)}`)).toBe('InvalidSignature')
    expect(await refusal(terms, short)).toBe('accepted')
  })

  test('a transfer by authorization that exceeds the balance is refused without using the nonce', async () => {
    expect(await refusal({ ...terms, value: 10n ** 12n })).toBe('ERC20InsufficientBalance')
    expect(await refusal(terms)).toBe('accepted')
  })
})

type Switch =
  | 'setAccountFrozen'
  | 'setTransferPaused'
  | 'setSignatureVerificationPaused'
  | 'setIsMsgSenderFrozenCheckEnabled'

describe('the issuer', () => {
  const flip = (name: Switch, args: readonly unknown[]) => fixture.send('admin', 'ausd', name, args as never)
  const plain = () => fixture.refusal('ana', 'ausd', 'transfer', [budi, 1n])

  test.each([
    ['sender', ana],
    ['receiver', budi],
  ])('the issuer freezes an account: nothing moves while it is the %s', async (_, account) => {
    await flip('setAccountFrozen', [account, true])
    expect([await refusal(terms), await plain()]).toEqual(['AccountIsFrozen', 'AccountIsFrozen'])
    await flip('setAccountFrozen', [account, false])
    expect([await refusal(terms), await plain()]).toEqual(['accepted', 'accepted'])
  })

  test('the issuer pauses all transfers, or those by signature alone', async () => {
    await flip('setTransferPaused', [true])
    expect([await refusal(terms), await plain()]).toEqual(['TransferPaused', 'TransferPaused'])
    await flip('setTransferPaused', [false])
    await flip('setSignatureVerificationPaused', [true])
    expect(await refusal(terms)).toBe('SignatureVerificationPaused')
    expect(await plain()).toBe('accepted')
  })

  test('the issuer freezes a caller: it may submit transfers of others only until the check of callers is on', async () => {
    const { relayer } = actors
    await flip('setAccountFrozen', [relayer.address, true])
    expect(await refusal(terms)).toBe('accepted')
    await flip('setIsMsgSenderFrozenCheckEnabled', [true])
    expect(await refusal(terms)).toBe('AccountIsFrozen')
    const pulled = [ana, budi, 0n] as const
    expect(await fixture.refusal('relayer', 'ausd', 'transferFrom', pulled)).toBe('AccountIsFrozen')
    expect(await plain()).toBe('accepted')
  })

  test.each<[Switch, unknown[]]>([
    ['setAccountFrozen', [ana, true]],
    ['setTransferPaused', [true]],
    ['setSignatureVerificationPaused', [true]],
    ['setIsMsgSenderFrozenCheckEnabled', [true]],
  ])('security: only the issuer may %s', async (functionName, args) => {
    expect(await fixture.refusal('ana', 'ausd', functionName, args as never)).toBe('AccessControlUnauthorizedAccount')
  })
})

describe('a receipt by authorization', () => {
  test.each(['bytes', 'v, r, s'])(
    'only the payee may submit a receipt by authorization with the %s overload',
    async (form) => {
      const signature = await sign(terms, 'ReceiveWithAuthorization')
      const tail = form === 'bytes' ? [signature] : split(signature)
      const args = [...fields(), ...tail] as never
      expect(await fixture.refusal('relayer', 'ausd', 'receiveWithAuthorization', args)).toBe('InvalidPayee')
      await fixture.send('budi', 'ausd', 'receiveWithAuthorization', args)
      expect(await fixture.refusal('budi', 'ausd', 'receiveWithAuthorization', args)).toBe(
        'UsedOrCanceledAuthorization',
      )
    },
  )
})

describe('a cancellation', () => {
  test.each(['bytes', 'v, r, s'])('a cancellation with the %s overload makes the nonce unusable', async (form) => {
    const signature = await signCancel()
    const args = [ana, terms.nonce, ...(form === 'bytes' ? [signature] : split(signature))] as never
    expect((await fixture.send('relayer', 'ausd', 'cancelAuthorization', args)).events).toMatchObject([
      { eventName: 'AuthorizationCanceled', args: { authorizer: ana, nonce: terms.nonce } },
    ])
    expect(await refusal(terms)).toBe('UsedOrCanceledAuthorization')
    expect(await fixture.refusal('relayer', 'ausd', 'cancelAuthorization', args)).toBe('UsedOrCanceledAuthorization')
  })

  test('security: a cancellation needs the authorizer', async () => {
    const args = [budi, terms.nonce, await signCancel()] as const
    expect(await fixture.refusal('relayer', 'ausd', 'cancelAuthorization', args)).toBe('InvalidSignature')
  })
})

describe('a contract wallet', () => {
  const wrap = (signature: Hex) =>
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [keccak256(toBytes('OwnedWallet')), signature])

  async function fundedWallet() {
    const data = encodeDeployData({
      abi: ownedWalletAbi,
      bytecode: ownedWalletBytecode,
      args: [ana],
    })
    const gas = numberToHex(1_000_000n)
    const { contractAddress } = await fixture.sendRaw({ from: budi, data, gas })
    await fixture.send('admin', 'ausd', 'mint', [contractAddress!, 9_000_000n])
    return contractAddress!
  }

  test('a contract wallet pays by the signature its owner wrapped for it', async () => {
    const message = { ...terms, from: await fundedWallet() }
    const wrapped = wrap(await sign(message))
    expect(await refusal(message, await sign(message))).not.toBe('accepted')
    const strange = wrap(await actors.budi.signMessage({ message: 'not this' }))
    expect(await refusal(message, strange)).toBe('InvalidSignature')
    await fixture.send('relayer', 'ausd', transfer, [...fields(message), wrapped])
    expect(await fixture.balanceOf(message.from)).toBe(4_000_000n)
  })

  test('an EOA that got code by delegation keeps its own key', async () => {
    const code = await fixture.client.getCode({ address: await fundedWallet() })
    await fixture.client.setCode({ address: ana, bytecode: code! })
    expect(await refusal(terms)).toBe('accepted')
  })
})
