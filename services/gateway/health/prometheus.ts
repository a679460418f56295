/** One line of Prometheus text format 0.0.4. */
export function sample(
  name: string,
  labels: Readonly<Record<string, string | number>>,
  value: number,
): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(String(text))}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/**
 * The numbers in a service's own figures, by their path: `{ outbox: { waiting: 2 } }` ->
 * outbox_waiting.
 */
export function figuresIn(value: unknown, path: readonly string[] = []): [string, number][] {
  if (typeof value === 'number' && Number.isFinite(value))
    return [[path.join('_').replace(/[^a-zA-Z0-9_]/g, '_'), value]]
  if (typeof value !== 'object' || value === null || path.length > 4) return []
  return Object.entries(value).flatMap(([key, inner]) => figuresIn(inner, [...path, key]))
}
