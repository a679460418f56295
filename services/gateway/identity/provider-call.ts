import { ProviderDown } from './identity-provider.ts'

const callDeadlineMs = 5_000
/** No answer we ask for is longer; more would be somebody else's. */
const answerBytesMax = 256 * 1024

/** One POST to the provider's API; throws `ProviderDown` on anything but a JSON object. */
export async function postToProvider(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(callDeadlineMs),
  }).catch((error) => {
    throw new ProviderDown('the identity provider does not answer', { cause: error })
  })
  const text = await response.text().catch(() => '')
  if (!response.ok) throw new ProviderDown(`the identity provider answered ${response.status}`)
  if (text.length > answerBytesMax)
    throw new ProviderDown('the identity provider answered at length')
  return objectOf(text)
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw new ProviderDown('the identity provider did not answer with JSON')
}

/** A link we may hand to a person: https, or http on this machine. */
export function hostedLink(value: unknown): string {
  if (typeof value === 'string' && value.length <= 2_000 && URL.canParse(value)) {
    const { protocol, hostname } = new URL(value)
    const local = hostname === 'localhost' || hostname === '127.0.0.1'
    if (protocol === 'https:' || (protocol === 'http:' && local)) return value
  }
  throw new ProviderDown('the identity provider answered without a link')
}
