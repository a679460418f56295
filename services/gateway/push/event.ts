/** Event as the stream stores it. */
export type StoredEvent = {
  readonly subject: string
  readonly seq: number
  /** `Nats-Msg-Id`, which its publisher derived from the cause. */
  readonly messageId: string
  readonly storedAt: Date
  /** JSON of the payload. */
  readonly payload: string
}

/** Returns the body of a call, with the payload as it is. Throws if that is no JSON. */
export function bodyOf({ subject, storedAt, payload }: StoredEvent): string {
  JSON.parse(payload)
  return `{"type":${JSON.stringify(subject)},"timestamp":"${storedAt.toISOString()}","data":${payload}}`
}
