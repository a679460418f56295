/**
 * Postgres with its password, which may stand apart: a file holds a password, and not half a URL. Put
 * in as text: a URL of several hosts is none for the runtime.
 */
export function databaseUrlOf({
  databaseUrl,
  databasePassword,
}: {
  databaseUrl: string
  databasePassword: string
}): string {
  if (databasePassword === '') return databaseUrl
  const [, scheme, role, rest] = /^(\w+:\/\/)([^:@/]*)[^@/]*(@.*)$/.exec(databaseUrl) ?? []
  if (rest === undefined) throw new Error('a password needs a role before it in the URL')
  return `${scheme}${role}:${encodeURIComponent(databasePassword)}${rest}`
}
