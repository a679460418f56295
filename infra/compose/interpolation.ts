export type Variables = Readonly<Record<string, string | undefined>>

const reference = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?])([^}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)/g

/**
 * As compose does (compose-spec, chapter "Interpolation"): `$$`, `${A}`, `${A-d}`, `${A:-d}`,
 * `${A?m}`, `${A:?m}`.
 */
export function interpolate(value: string, variables: Variables): string {
  return value.replaceAll(reference, (whole, braced, operator, word, bare) => {
    if (whole === '$$') return '$'
    const name: string = braced ?? bare
    const found = variables[name]
    const given = operator?.startsWith(':') && found === '' ? undefined : found
    if (given !== undefined) return given
    if (operator?.endsWith('?')) throw new Error(`${name} is not set: ${word || 'it must be'}`)
    return operator?.endsWith('-') ? word : ''
  })
}

export const referencesIn = (value: string): string[] =>
  [...value.matchAll(reference)].flatMap(([, braced, , , bare]) => braced ?? bare ?? [])

/** Lines of `NAME=value`, without quotes. */
export function readEnvFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      if (at < 1) throw new Error(`not NAME=value: ${line.slice(0, 20)}`)
      return [line.slice(0, at), line.slice(at + 1)]
    }),
  )
}
