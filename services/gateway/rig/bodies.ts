import { exampleAuthorization as authorization } from '../openapi/examples.ts'

export const quoteId = '7f9c24e8-3b1a-4d52-9e0f-1c2d3e4f5a6b'
export const bank = {
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
}

/** A body that each route takes, to be spoilt one field at a time. */
export const goodBodies = {
  '/quote': { pair: 'USD/IDR' },
  '/me/country': { country: 'MY' },
  '/topups': { amount: '50000', method: 'qr', quoteId },
  '/settlements': { quoteId },
  '/cashouts': { quoteId, authorization, bank },
  '/sends': { authorization },
} as const
export type BodyPath = keyof typeof goodBodies

/** The same body with the value at `path` replaced, or taken out when it is undefined. */
export function spoilt(body: object, path: string, value: unknown): Record<string, unknown> {
  const copy = structuredClone(body) as Record<string, unknown>
  const keys = path.split('.')
  const last = keys.pop()!
  const holder = keys.reduce((at, key) => at[key] as Record<string, unknown>, copy)
  if (value === undefined) delete holder[last]
  else Object.defineProperty(holder, last, { value, enumerable: true, configurable: true })
  return copy
}
