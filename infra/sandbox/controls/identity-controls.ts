import type { SandboxContext } from '../context'
import { type Bend, decide } from '../identity/decide'
import { isWallet } from '../identity/link'
import { verdicts } from '../identity/verdict'
import type { JsonObject } from '../json'
import type { IdentityProvider } from '../records'
import { type Control, optionalText, Refusal } from './control'

export const identityControls = (context: SandboxContext): Control[] => [
  {
    method: 'POST',
    path: '/control/identity/:id',
    run(id, body) {
      const wallet = id.toLowerCase()
      if (!isWallet(wallet)) throw new Refusal(400, 'the wallet must be an address')
      const verdict = verdicts.find((known) => known === body.verdict)
      if (!verdict) throw new Refusal(400, `verdict must be one of ${verdicts.join(', ')}`)
      const provider = providerOf(context, body)
      const applicant = decide(context, provider, wallet, verdict, bendOf(body))
      if (!applicant) throw new Refusal(400, `${provider} has no verdict ${verdict}`)
      return { wallet, provider, verdict, applicant_id: applicant.providerRef }
    },
  },
]

function providerOf({ config }: SandboxContext, body: JsonObject): IdentityProvider {
  const name = optionalText(body, 'provider') ?? config.identity.provider
  if (name === 'sumsub' || name === 'persona') return name
  throw new Refusal(400, 'provider must be sumsub or persona')
}

function bendOf({ levelName, sandboxMode, ageMs, person }: JsonObject): Bend {
  return {
    ...(typeof levelName === 'string' && { levelName }),
    ...(typeof sandboxMode === 'boolean' && { sandboxMode }),
    ...(typeof ageMs === 'number' && { ageMs }),
    ...(typeof person === 'string' && { person }),
  }
}
