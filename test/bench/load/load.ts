/** A load, whose `seconds` exclude one second of warm-up. */
export type Load = {
  readonly url: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** File with a JSON list of Authorization headers, used in turn; with `eachOnce` the load ends after the last. */
  readonly sessionsFile?: string
  readonly eachOnce?: boolean
  readonly connections: number
  readonly seconds: number
}

/** A load of publishes, where `connections` is the number of publishes in flight. */
export type Publishing = {
  readonly natsUrl: string
  readonly user: string
  readonly password: string
  readonly body: string
  readonly connections: number
  readonly seconds: number
}
