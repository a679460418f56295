import type { Terms } from '#infra/local/chain'
import type { Env, OwnProcess } from '#infra/local/environment'
import type { Cluster } from '#infra/local/postgres'
import type { Part } from '#infra/local/stack-file'
import type { DataPlan } from '#infra/local/start/kept'
import type { Progress } from '#infra/local/start/progress'
import type { Death } from '#infra/local/supervisor'
import type { ServiceName } from '#shared/messages/topic'

/** The well-known ports. */
export const wantedPorts: Record<Part, number> = {
  gateway: 3000,
  ops: 3001,
  sandbox: 3100,
  nats: 4222,
  monitor: 8222,
  postgres: 5432,
  chain: 8545,
}

/** What a stack is made of; where nothing is said, what `bun run start` has. */
export type StackOptions = {
  dir: string
  /** `wanted`: the well-known ports, moved when taken. `free`: any. */
  ports: 'wanted' | 'free'
  /** Whether Postgres survives a power cut; suites do without. */
  durable: boolean
  /** What its Postgres is a copy of; an empty one when left out. */
  cluster?: Cluster
  /** As a deployment: how often processes look after what is quiet, and no failpoints. Sooner, and with them, when left out. */
  times?: 'deployed'
  /** More variables for a process, over the usual ones. */
  env?: Partial<Record<OwnProcess, Env>>
  services?: readonly ServiceName[]
  /** After so long a message comes again whose reader died; 20 s when left out. */
  ackWaitMs?: number
  /** The longest rest of a process that died; one that keeps dying rests longer each time. */
  restMaxMs?: number
  /** Copies of every service; one when left out. */
  copies?: number
  /** Where the code of a copy's services is, counted from 1, when it is not this repository. */
  codeDir?: (copy: number) => string | undefined
  /** Whether the job that reconciles the books runs too; nothing waits for it. */
  books?: boolean
  /** Whether the job that removes old rows runs too; nothing waits for it. */
  pruning?: boolean
  terms?: Partial<Terms>
  /** The user's own Postgres, NATS or chain, by the usual variable names. */
  own?: Readonly<Record<string, string | undefined>>
  /** The services reach the chain through a fault proxy; everybody else stays at the node. */
  proxied?: boolean
  /** The console gets the buttons of the sandbox; without a sandbox of its own there are none. */
  controls?: boolean
  /** What services find in place of the host and port of NATS or of Postgres. */
  wire?: (to: 'nats' | 'postgres', host: string) => string
  /** What services find behind the host of their RPC URL, as a vendor's key: `/v2/<key>`. */
  rpcPath?: string
  data?: DataPlan
  /** Ends a start that is not ready yet: everything that was started has ended when it throws. */
  signal?: AbortSignal
  /** Called when the folder is this stack's, and nothing in it was changed yet. */
  onOwned?: () => void
  /** Hears what is waited for. */
  progress?: Progress
  /** How a port is chosen for a part; suites give one that is taken. */
  choosePort?: (part: Part, wanted: number) => Promise<number>
  onDeath?: (death: Death) => void
}
