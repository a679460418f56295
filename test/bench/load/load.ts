/** What the generator asks for; `seconds` after one of warm-up. */
export type Load = {
  readonly url: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A JSON list of Authorization headers, taken in turn; `eachOnce`: the load ends with the last. */
  readonly sessionsFile?: string
  readonly eachOnce?: boolean
  readonly connections: number
  readonly seconds: number
}

/** Messages that a publisher stores, so many of them under way at once. */
export type Publishing = {
  readonly natsUrl: string
  readonly user: string
  readonly password: string
  readonly body: string
  readonly connections: number
  readonly seconds: number
}
