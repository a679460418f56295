import type { Clock } from '#shared/clock'
import type { IdentityProvider } from './identity-provider.ts'
import { persona } from './providers/persona/client.ts'
import { sumsub } from './providers/sumsub/client.ts'

/** The part of the configuration that names the provider. */
export type IdentityConfig = {
  identityProvider: 'sumsub' | 'persona'
  identityApiUrl: string
  identityAppToken: string
  identitySecretKey: string
  identityWebhookSecrets: readonly string[]
  identityLevel: string
}

/** The adapter that the configuration names. */
export function identityProviderOf(config: IdentityConfig, clock: Clock): IdentityProvider {
  const common = {
    apiUrl: config.identityApiUrl,
    webhookSecrets: config.identityWebhookSecrets,
  }
  if (config.identityProvider === 'persona')
    return persona({
      ...common,
      apiKey: config.identitySecretKey,
      templateId: config.identityLevel,
    })
  return sumsub({
    ...common,
    appToken: config.identityAppToken,
    secretKey: config.identitySecretKey,
    level: config.identityLevel,
    clock,
  })
}
