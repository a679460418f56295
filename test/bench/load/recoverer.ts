import { parseArgs } from 'node:util'
import { recoverMessageAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** This yardstick of a sign-in recovers signers from signatures. */
const { values } = parseArgs({ options: { load: { type: 'string', default: '' } } })
const { seconds } = JSON.parse(values.load) as { seconds: number }
const account = privateKeyToAccount(generatePrivateKey())
const signed = await Promise.all(
  Array.from({ length: 200 }, async (_, turn) => {
    const message = `Sign in to Service\n${account.address.toLowerCase()}\nuntil ${turn}`
    return { message, signature: await account.signMessage({ message }) }
  }),
)
const warmUpMs = 1_000
const beganAt = performance.now() + warmUpMs
const endsAt = beganAt + seconds * 1_000
let recovered = 0
for (let turn = 0; performance.now() < endsAt; turn++) {
  const startedAt = performance.now()
  const signer = await recoverMessageAddress(signed[turn % signed.length]!)
  if (signer !== account.address) throw new Error('recovered the wrong signer')
  if (startedAt >= beganAt) recovered++
}
console.log(JSON.stringify({ perSecond: (1_000 * recovered) / (performance.now() - beganAt) }))
