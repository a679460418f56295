/** Postgres with its password, which may stand apart: a file holds a password, and not half a URL. */
export function databaseUrlOf({
  databaseUrl,
  databasePassword,
}: {
  databaseUrl: string
  databasePassword: string
}): string {
  if (databasePassword === '') return databaseUrl
  const url = new URL(databaseUrl)
  url.password = encodeURIComponent(databasePassword)
  return url.toString()
}
