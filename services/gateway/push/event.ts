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

/** Id of an event, which is the same in each delivery. */
export const idOf = ({ messageId, seq }: Pick<StoredEvent, 'messageId' | 'seq'>): string =>
  // A header may contain nothing else.
  /^[\x21-\x7e]{1,256}$/.test(messageId) ? messageId : `EVENTS:${seq}`

/** Returns the body of a call, with the payload as it is. Throws if that is no JSON. */
export function bodyOf({ subject, storedAt, payload }: StoredEvent): string {
  JSON.parse(payload)
  return `{"type":${JSON.stringify(subject)},"timestamp":"${storedAt.toISOString()}","data":${payload}}`
}
