import { busUsers } from '#shared/messages/topic'

/** Every user of the account APP: the processes under their names, operators, and who provisions. */
export const natsUsers = [...busUsers, 'admin'] as const
export type NatsUser = (typeof natsUsers)[number]

/** The variable that carries a user's password into nats-server.conf. */
export const passwordVariable = (user: string): string =>
  `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`

/**
 * The environment nats-server.conf reads. nats-server parses a variable as a piece of its file:
 * unquoted, a password like `3e5-x` ends the start with an error and `12k` is a number (tried with
 * 2.14.0), so that strings carry their quotes.
 */
export function serverEnvironment(options: {
  host: string
  port: number
  /** Bound to this machine alone, whatever the host. */
  monitorPort: number
  storeDir: string
  passwords: Readonly<Record<NatsUser, string>>
  /** For one node of a cluster, which starts from nats-cluster.conf. */
  cluster?: ClusterNode
}): Record<string, string> {
  const passwords = natsUsers.map((user) => [
    passwordVariable(user),
    quoted(options.passwords[user]),
  ])
  return {
    ...Object.fromEntries(passwords),
    NATS_HOST: quoted(options.host),
    NATS_PORT: String(options.port),
    NATS_MONITOR_PORT: quoted(`127.0.0.1:${options.monitorPort}`),
    NATS_STORE_DIR: quoted(options.storeDir),
    ...(options.cluster && clusterEnvironment(options.host, options.cluster)),
  }
}

/** What a node of a cluster knows beside what a single server does. */
export type ClusterNode = {
  /** Stays the same for as long as the cluster lives, also when its store was lost. */
  name: string
  port: number
  /** Where every node listens for the others, this one too. */
  ports: readonly number[]
  /** Whoever knows it may join, and then sees and says everything. */
  password: string
}

const clusterEnvironment = (host: string, { name, port, ports, password }: ClusterNode) => ({
  NATS_SERVER_NAME: quoted(name),
  NATS_CLUSTER_PORT: String(port),
  [passwordVariable('cluster')]: quoted(password),
  NATS_ROUTES: `[${ports.map((to) => quoted(`nats://route:${password}@${host}:${to}`)).join(', ')}]`,
})

function quoted(value: string): string {
  if (/["\\\n]/.test(value)) throw new Error('a value for nats-server has a quote or backslash')
  return `"${value}"`
}
