import type { LocalChainTerms } from '#infra/local/chain'
import type { Env, OwnProcess } from '#infra/local/environment'
import type { Cluster } from '#infra/local/postgres'
import type { StackPart } from '#infra/local/stack-file'
import type { DataPlan } from '#infra/local/start/kept'
import type { StartProgress } from '#infra/local/start/progress'
import type { ProcessDeath } from '#infra/local/supervisor'
import type { ServiceName } from '#shared/messages/topic'

/** Well-known ports. */
export const wantedPorts: Record<StackPart, number> = {
  gateway: 3000,
  ops: 3001,
  sandbox: 3100,
  nats: 4222,
  monitor: 8222,
  postgres: 5432,
  chain: 8545,
}

/** Composition of a stack; the defaults are those of `bun run start`. */
export type StackOptions = {
  dir: string
  /** `wanted`: the well-known ports, or others where these are taken. `free`: any. */
  ports: 'wanted' | 'free'
  /** Whether Postgres survives a power cut; suites do not need that. */
  durable: boolean
  /** Cluster from which its Postgres is copied; default: an empty one. */
  cluster?: Cluster
  /**
   * `deployed`: recheck intervals of production and no failpoints. Default: short ones, with
   * failpoints.
   */
  times?: 'deployed'
  /** `deployed`: the default limits of a deployment. Default: lifted, for load tests. */
  limits?: 'deployed'
  /** Extra environment variables per process; they win over the usual ones. */
  env?: Partial<Record<OwnProcess, Env>>
  services?: readonly ServiceName[]
  /**
   * Ack wait of the durable consumers: a message whose reader died is redelivered after it. Default
   * 20 s.
   */
  ackWaitMs?: number
  /** Upper bound of the restart backoff of a process that keeps dying. */
  restMaxMs?: number
  /** Instances of every service; default 1. */
  copies?: number
  /**
   * Returns the code folder of an instance (counted from 1) that does not run from this repository.
   */
  codeDir?: (copy: number) => string | undefined
  /** Whether the operators' process runs too; the start does not wait for it. */
  operations?: boolean
  terms?: Partial<LocalChainTerms>
  /** The user's own Postgres, NATS or chain, by environment variable name. */
  own?: Readonly<Record<string, string | undefined>>
  /**
   * Whether the services reach the chain through a fault proxy; tools and tests use the node
   * directly. `and directly`: the node is the services' second endpoint.
   */
  proxied?: boolean | 'and directly'
  /**
   * Whether the console has the sandbox controls; it never has them without a sandbox of its own.
   */
  controls?: boolean
  /** Returns the host and port that services use in place of those of NATS or Postgres. */
  wire?: (to: 'nats' | 'postgres', host: string) => string
  /** Path of the services' RPC URL, such as a vendor's `/v2/<key>`. */
  rpcPath?: string
  data?: DataPlan
  /** Cancels a start that is not ready yet; it throws once every process it started has ended. */
  signal?: AbortSignal
  /** Called once this stack owns the folder, before anything in it changes. */
  onOwned?: () => void
  /** Shows the steps of the start. */
  progress?: StartProgress
  /** Chooses the port of a part; suites use it to return one that is taken. */
  choosePort?: (part: StackPart, wanted: number) => Promise<number>
  onDeath?: (death: ProcessDeath) => void
}
