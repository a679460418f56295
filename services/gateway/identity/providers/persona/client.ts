import { type Finding, type IdentityProvider, ProviderDown } from '../../identity-provider.ts'
import { getFromProvider, hostedLink, postToProvider } from '../../provider-call.ts'
import { type Decided, findingOf, readInquiries } from './inquiries.ts'
import { keptOf, parsePersona } from './mapping.ts'
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
const pageSize = 20
/** So many decided inquiries about one person are nobody's history. */
const pagesMax = 10

/** Persona behind the port. */
export function persona(options: PersonaOptions): IdentityProvider {
  const sandbox = !options.apiKey.startsWith('persona_production_')
  const headers = {
    Authorization: `Bearer ${options.apiKey}`,
    'Persona-Version': version,
    'Key-Inflection': 'kebab',
  }
  const inquiries = `${options.apiUrl}/api/v1/inquiries`
  const post = (path: string, body: string) => postToProvider(`${inquiries}${path}`, headers, body)
  const pageOf = async (wallet: string, after: string | undefined) => {
    const query = queryOf(wallet, after)
    const { status, body } = await getFromProvider(`${inquiries}?${query}`, headers)
    // A list that is not there says nothing of the person: an empty one would.
    if (status !== 200) throw new ProviderDown(`the identity provider answered ${status}`)
    const page = readInquiries(body, wallet)
    if ('fault' in page) throw new ProviderDown(`persona: ${page.fault}`)
    return page
  }
  return {
    name: 'persona',
    verify: (body, received, nowMs) => verifyPersona(body, received, options.webhookSecrets, nowMs),
    parse: (body) => parsePersona(body, sandbox),
    kept: keptOf,
    async createLink(wallet) {
      const attributes = { 'inquiry-template-id': options.templateId, 'reference-id': wallet }
      const inquiry = await post('', JSON.stringify({ data: { attributes } }))
      const id = (inquiry.data as { id?: unknown } | undefined)?.id
      if (typeof id !== 'string' || !/^inq_[A-Za-z0-9]{1,64}$/.test(id))
        throw new ProviderDown('the identity provider answered without an inquiry')
      const link = await post(`/${id}/generate-one-time-link`, '{}')
      return hostedLink((link.meta as Record<string, unknown> | undefined)?.['one-time-link'])
    },
    async lookUp(wallet): Promise<Finding> {
      const all: Decided[] = []
      for (let page = 1, after: string | undefined; page <= pagesMax; page++) {
        const { inquiries: read, hasMore } = await pageOf(wallet, after)
        all.push(...read)
        after = read.at(-1)?.id
        if (!after || !(hasMore || read.length >= pageSize))
          return findingOf(all, { wallet, templateId: options.templateId, sandbox })
      }
      throw new ProviderDown('persona: more inquiries than can be read')
    },
  }
}

/**
 * Only decided inquiries: everybody who asks for a link makes an open one, and however many of
 * those there are, they must not hide a verdict.
 */
function queryOf(wallet: string, after: string | undefined): URLSearchParams {
  return new URLSearchParams({
    'filter[reference-id]': wallet,
    'filter[status]': 'approved,declined',
    'page[size]': String(pageSize),
    ...(after === undefined ? {} : { 'page[after]': after }),
  })
}
