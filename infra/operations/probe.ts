// The probe exits 1 unless the URL returns 200. It imports nothing, because it runs every few seconds.
const url = process.argv[2] ?? ''
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
  if (!answer.ok) throw new Error(`returned ${answer.status}`)
} catch (cause) {
  console.error(`unhealthy: ${url} ${(cause as Error).message}`)
  process.exit(1)
}

export {}
