import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** An authority with EC keys, valid for a day. */
export type Authority = {
  readonly certificate: string
  /** Issues a certificate as PEM, with its key. */
  readonly issue: (names: { dns?: string; ip?: string }) => { certificate: string; key: string }
}

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const sized = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...sized]), content])
}
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (ms: number) => der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)}Z`))
const name = (common: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(common)))))
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const dayMs = 86_400_000

/** Returns an X.509 v3 certificate (RFC 5280) as PEM. */
function certificateOf(made: {
  subject: string
  issuer: string
  publicKey: KeyObject
  issuerKey: KeyObject
  extensions: Buffer[]
}): string {
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name(made.issuer),
    sequence(time(Date.now() - dayMs), time(Date.now() + dayMs)),
    name(made.subject),
    made.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...made.extensions)),
  )
  const signature = sign('sha256', toSign, made.issuerKey)
  const bytes = sequence(toSign, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

export function makeAuthority(): Authority {
  const own = keyPair()
  const issuer = `authority ${randomBytes(4).toString('hex')}`
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])))
  return {
    certificate: certificateOf({
      subject: issuer,
      issuer,
      publicKey: own.publicKey,
      issuerKey: own.privateKey,
      extensions: [extension('551d13', isAuthority)],
    }),
    issue: ({ dns, ip }) => {
      const { publicKey, privateKey } = keyPair()
      const names = [
        ...(dns ? [der(0x82, Buffer.from(dns))] : []),
        ...(ip ? [der(0x87, Buffer.from(ip.split('.').map(Number)))] : []),
      ]
      return {
        certificate: certificateOf({
          subject: 'server',
          issuer,
          publicKey,
          issuerKey: own.privateKey,
          extensions: [extension('551d11', sequence(...names))],
        }),
        key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      }
    },
  }
}
