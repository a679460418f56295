export const lineVersion = 3n

/** Returns what is wrong with a contract's version; `null` means that it has no `version()`. */
export const versionFault = (found: bigint | null): string | undefined =>
  found === lineVersion
    ? undefined
    : `the credit line is version ${found ?? 'unknown (older than 2)'}, this service needs ${lineVersion}. Run: bun run deploy`
