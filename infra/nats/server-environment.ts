import { busUsers } from '#shared/messages/topic'

export const natsUsers = [...busUsers, 'admin'] as const
export type NatsUser = (typeof natsUsers)[number]

export const passwordVariable = (user: string): string => `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`

/**
 * Returns the environment of nats-server, which parses a variable as part of its file. So strings include their quotes:
 * unquoted, the password `3e5-x` is a syntax error and `12k` a number (tried with 2.14.0).
 */
export function serverEnvironment(options: {
  host: string
  port: number
  /** Monitoring port, which is always bound to 127.0.0.1. */
  monitorPort: number
  storeDir: string
  passwords: Readonly<Record<NatsUser, string>>
  /** Key that encrypts the store. Without it, the store is not encrypted. */
  storeKey?: string
  /** Place in a cluster, which starts from nats-cluster.conf. */
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
  /** Name of the node. It must stay the same for the life of the cluster, even after the node's store is lost. */
  name: string
  port: number
  /** Ports of all nodes, including this one. */
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
