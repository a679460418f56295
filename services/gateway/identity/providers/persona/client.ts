import { type IdentityProvider, ProviderDown } from '../../identity-provider.ts'
import { hostedLink, postToProvider } from '../../provider-call.ts'
import { parsePersona } from './mapping.ts'
import { verifyPersona } from './signature.ts'

/** `webhookSecrets` in any order: all are tried. */
export type PersonaOptions = {
  apiUrl: string
  /** Keys of the live environment begin with `persona_production_`, those of the sandbox do not. */
  apiKey: string
  webhookSecrets: readonly string[]
  templateId: string
}

/** Pinned, so that a change of the account's default changes nothing here. */
const version = '2025-12-08'

/** Persona behind the port. */
export function persona(options: PersonaOptions): IdentityProvider {
  const sandbox = !options.apiKey.startsWith('persona_production_')
  const headers = {
    Authorization: `Bearer ${options.apiKey}`,
    'Persona-Version': version,
    'Key-Inflection': 'kebab',
  }
  const post = (path: string, body: string) =>
    postToProvider(`${options.apiUrl}/api/v1/inquiries${path}`, headers, body)
  return {
    name: 'persona',
    verify: (body, received, nowMs) => verifyPersona(body, received, options.webhookSecrets, nowMs),
    parse: (body) => parsePersona(body, sandbox),
    async createLink(wallet) {
      const attributes = { 'inquiry-template-id': options.templateId, 'reference-id': wallet }
      const inquiry = await post('', JSON.stringify({ data: { attributes } }))
      const id = (inquiry.data as { id?: unknown } | undefined)?.id
      if (typeof id !== 'string' || !/^inq_[A-Za-z0-9]{1,64}$/.test(id))
        throw new ProviderDown('the identity provider answered without an inquiry')
      const link = await post(`/${id}/generate-one-time-link`, '{}')
      return hostedLink((link.meta as Record<string, unknown> | undefined)?.['one-time-link'])
    },
  }
}
