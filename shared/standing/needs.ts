import { counted } from '#shared/trace/words'

// Alert thresholds and messages shared by `bun run ops status` and the console, so that the two
// always agree.

/** A row only stays in an outbox this long if publishing fails. */
export const outboxMaxMs = 60_000

/** Maximum age of a comparison of the books, which runs every minute. */
export const comparedMaxMs = 600_000

/** Larger than the backlog that a restart leaves. */
const waitingMax = 1_000
/** Single failed reads are normal. */
const failuresMax = 3

/** Backlog of a stream consumer, in messages. */
export type Lag = { readonly reader: string; readonly stream: string; readonly waiting: number }

export const lagNeeds = (lags: readonly Lag[]): string[] =>
  lags
    .filter(({ waiting }) => waiting > waitingMax)
    .map(
      ({ reader, stream, waiting }) =>
        `${reader} is ${counted(waiting, 'message')} behind ${stream}`,
    )

/** A provider transaction list, with its consecutive failed reads. */
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
        `provider transaction list (${service}, ${account}, ${window}) failed ${counted(failures, 'time')} in a row`,
    )

/** A currency pair, with the reason if it has no rate. */
export type PairRate = { readonly pair: string; readonly unavailable?: string | undefined }

export const unpricedNeeds = (rates: readonly PairRate[]): string[] =>
  rates.flatMap(({ pair, unavailable }) =>
    unavailable ? [`no rate for ${pair}: ${unavailable}`] : [],
  )

/** Returns the alert for a lane that assigns no nonces. */
export const blockedNeeds = (address: string, fault: string | null): string[] =>
  fault ? [`lane ${address} is blocked: ${fault}`] : []
