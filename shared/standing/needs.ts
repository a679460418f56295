import { counted } from '#shared/trace/words'

// Where something begins to need a person, and what is said of it. `bun run ops status` and the console's
// page draw their lines here, so that they never differ.

/** A row waits in an outbox for so long only while nobody can publish. */
export const outboxMaxMs = 60_000

/** The books are compared every minute. */
export const comparedMaxMs = 600_000

/** More than a restart leaves behind. */
const waitingMax = 1_000
/** One reading may fail by itself. */
const failuresMax = 3

/** How far a reader of a stream is behind, in messages. */
export type Lag = { readonly reader: string; readonly stream: string; readonly waiting: number }

export const lagNeeds = (lags: readonly Lag[]): string[] =>
  lags
    .filter(({ waiting }) => waiting > waitingMax)
    .map(
      ({ reader, stream, waiting }) =>
        `${reader} is ${counted(waiting, 'message')} behind ${stream}`,
    )

/** A list of the provider's transactions, and how often reading it failed since it last succeeded. */
export type ListRead = {
  readonly service: string
  readonly account: string
  readonly window: string
  readonly failures: number
}

export const listNeeds = (lists: readonly ListRead[]): string[] =>
  lists
    .filter(({ failures }) => failures > failuresMax)
    .map(
      ({ service, account, window, failures }) =>
        `the provider's list (${service}, ${account}, ${window}) failed ${counted(failures, 'time')} in a row`,
    )

/** A pair, and why there is no rate for it. */
export type PairRate = { readonly pair: string; readonly unavailable?: string | undefined }

export const unpricedNeeds = (rates: readonly PairRate[]): string[] =>
  rates.flatMap(({ pair, unavailable }) =>
    unavailable ? [`there is no rate for ${pair}: ${unavailable}`] : [],
  )

/** A lane that gives out no nonce, and why. */
export const blockedNeeds = (address: string, fault: string | null): string[] =>
  fault ? [`lane ${address} is blocked: ${fault}`] : []
