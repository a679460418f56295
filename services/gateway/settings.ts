import type { ConfigOf } from '#shared/config'
import type { fields } from './config.ts'
import type { Settings } from './parts.ts'

/** What the routes need of the configuration. */
export const settingsOf = (config: ConfigOf<typeof fields>): Settings => ({
  publicUrl: config.publicUrl,
  callbackTokens: {
    ID: config.paymentsCallbackTokensId,
    MY: config.paymentsCallbackTokensMy,
  },
  corsOrigins: config.corsOrigins,
  trustedProxyHops: config.trustedProxyHops,
  publicPerMinute: config.rateLimitPublicPerMinute,
  signedPerMinute: config.rateLimitSignedPerMinute,
})
