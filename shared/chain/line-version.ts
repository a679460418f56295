/** What `version()` of the credit line must answer; its events and functions are spoken here. */
export const lineVersion = 2n

/** What is wrong with a credit line of another version; null: one that has no `version()` at all. */
export const versionFault = (found: bigint | null): string | undefined =>
  found === lineVersion
    ? undefined
    : `the credit line is version ${found ?? 'unknown (older than 2)'}, this service speaks ${lineVersion}: bun run deploy`
