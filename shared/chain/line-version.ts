export const lineVersion = 3n

/** `null`: it has no `version()` at all. */
export const versionFault = (found: bigint | null): string | undefined =>
  found === lineVersion
    ? undefined
    : `the credit line is version ${found ?? 'unknown (older than 2)'}, this service needs ${lineVersion}. Run: bun run deploy`
