/** Version of the credit line that `bun run deploy` deploys. */
export const lineVersion = 4n

/** First version with `setAutoRepay`, `autoRepay` and `autoRepayOf`. */
export const autoRepayVersion = 4n

/** Versions that the services can use. Nothing of version 3 changed in version 4. */
const usableVersions: readonly bigint[] = [3n, lineVersion]
export const usableVersionsText = usableVersions.join(' or ')

export const isUsableVersion = (found: bigint | null): boolean => found !== null && usableVersions.includes(found)

/** Returns what is wrong with a contract's version; `null` means that it has no `version()`. */
export const versionFault = (found: bigint | null): string | undefined =>
  isUsableVersion(found)
    ? undefined
    : `the credit line is version ${found ?? 'unknown (older than 2)'}, this service needs ${usableVersionsText}. Run: bun run deploy`
