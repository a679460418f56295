import type { ConnectionOptions } from 'nats'

/**
 * Returns the options for the servers of a URL. With `tls://` alone, without the option, nats 2.29 accepts a server
 * without TLS.
 */
export const serversOf = (url: string): Pick<ConnectionOptions, 'servers' | 'tls'> => ({
  servers: url.split(','),
  ...(url.includes('tls://') ? { tls: {} } : {}),
})
