/** Returns the URL with the password spliced in as text, because the runtime cannot parse a URL with several hosts. */
export function databaseUrlOf({
  databaseUrl,
  databasePassword,
}: {
  databaseUrl: string
  databasePassword: string
}): string {
  if (databasePassword === '') return databaseUrl
  const [, scheme, role, rest] = /^(\w+:\/\/)([^:@/]*)[^@/]*(@.*)$/.exec(databaseUrl) ?? []
  if (rest === undefined) throw new Error('DATABASE_PASSWORD needs a role in DATABASE_URL: postgres://role@host/name')
  return `${scheme}${role}:${encodeURIComponent(databasePassword)}${rest}`
}

/** Returns the URL of connections that take another role, of which the login is a member. */
export const urlInRole = (url: string, role: string): string => `${url}${url.includes('?') ? '&' : '?'}role=${role}`
