// Asks an HTTP address that is to answer 200. It imports nothing: it is run again and again.
const url = process.argv[2] ?? ''
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
} catch (cause) {
  console.error(`unhealthy: ${url} ${(cause as Error).message}`)
  process.exit(1)
}

export {}
