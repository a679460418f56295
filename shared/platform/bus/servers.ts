import type { ConnectionOptions } from 'nats'

/**
 * `tls://` refuses a server without TLS; the scheme alone would not (nats 2.29). Certificates are checked
 * against the system's authorities and NODE_EXTRA_CA_CERTS.
 */
export const serversOf = (url: string): Pick<ConnectionOptions, 'servers' | 'tls'> => ({
  servers: url.split(','),
  ...(url.includes('tls://') ? { tls: {} } : {}),
})
