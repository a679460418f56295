import { busUsers } from '#shared/messages/topic'

export const natsUsers = [...busUsers, 'admin'] as const
export type NatsUser = (typeof natsUsers)[number]

export const passwordVariable = (user: string): string => `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`

/**
 * nats-server parses a variable as part of its file, so strings include their quotes: unquoted, the
 * password `3e5-x` is a syntax error and `12k` a number (tried with 2.14.0).
 */
export function serverEnvironment(options: {
  host: string
  port: number
  /** Always bound to 127.0.0.1. */
  monitorPort: number
  storeDir: string
  passwords: Readonly<Record<NatsUser, string>>
  /** Encrypts the store; default: not encrypted. */
  storeKey?: string
  /** Starts from nats-cluster.conf. */
  cluster?: ClusterNode
}): Record<string, string> {
  const passwords = natsUsers.map((user) => [passwordVariable(user), quoted(options.passwords[user])])
  return {
    ...Object.fromEntries(passwords),
    NATS_HOST: quoted(options.host),
    NATS_PORT: String(options.port),
    NATS_MONITOR_PORT: quoted(`127.0.0.1:${options.monitorPort}`),
    NATS_STORE_DIR: quoted(options.storeDir),
    NATS_STORE_KEY: quoted(options.storeKey ?? ''),
    ...(options.cluster && clusterEnvironment(options.host, options.cluster)),
  }
}

export type ClusterNode = {
  /** Must stay the same for the life of the cluster, even after the node's store is lost. */
  name: string
  port: number
  /** Includes this node's port. */
  ports: readonly number[]
  /** Secret for joining. A node that joins can read and publish everything. */
  password: string
}

const clusterEnvironment = (host: string, { name, port, ports, password }: ClusterNode) => ({
  NATS_SERVER_NAME: quoted(name),
  NATS_CLUSTER_PORT: String(port),
  [passwordVariable('cluster')]: quoted(password),
  NATS_ROUTES: `[${ports.map((to) => quoted(`nats://route:${password}@${host}:${to}`)).join(', ')}]`,
})

function quoted(value: string): string {
  if (/["\\\n]/.test(value))
    throw new Error('a value for nats-server must not contain a quote, backslash or line break')
  return `"${value}"`
}
