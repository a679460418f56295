import type { Clock } from '#platform/clock'
import type { Config } from '../../config'
import type { IdentityProvider } from '../provider'
import { persona } from './persona/client'
import { sumsub } from './sumsub/client'

type IdentityConfig = Pick<
  Config,
  | 'identityProvider'
  | 'identityApiUrl'
  | 'identityAppToken'
  | 'identitySecretKey'
  | 'identityWebhookSecrets'
  | 'identityLevel'
>

export function chooseIdentityProvider(config: IdentityConfig, clock: Clock): IdentityProvider {
  const common = {
    apiUrl: config.identityApiUrl,
    webhookSecrets: config.identityWebhookSecrets,
    clock,
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
  })
}
