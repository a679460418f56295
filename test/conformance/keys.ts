/** Error about a live key, with which no call is made. */
export class LiveKey extends Error {
  override name = 'LiveKey'
  constructor(variable: string, begins: string) {
    super(`${variable} is not a test key: it must begin with ${begins}. Live accounts are never called`)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const testKeys = {
  XENDIT_ID_TEST_KEY: 'xnd_development_',
  XENDIT_MY_TEST_KEY: 'xnd_development_',
  SUMSUB_APP_TOKEN: 'sbx:',
  PERSONA_API_KEY: 'persona_sandbox_',
} as const

/** Keys that do not show their mode, which the key next to them shows. */
const plainSecrets = ['SUMSUB_SECRET_KEY'] as const

/** Names of keys that are never printed. */
const secretNames = [...Object.keys(testKeys), ...plainSecrets]

/** Reads the keys. Throws `LiveKey` if one is not a test key. */
export function testModeKeys(env: Environment) {
  for (const [name, begins] of Object.entries(testKeys)) {
    const value = env[name]
    if (value && !value.startsWith(begins)) throw new LiveKey(name, begins)
  }
  return {
    xendit: { ID: env.XENDIT_ID_TEST_KEY || null, MY: env.XENDIT_MY_TEST_KEY || null },
    sumsub: all(env, ['SUMSUB_APP_TOKEN', 'SUMSUB_SECRET_KEY', 'SUMSUB_LEVEL']),
    persona: all(env, ['PERSONA_API_KEY', 'PERSONA_TEMPLATE_ID']),
    rateSources: (env.RATE_SOURCES ?? '').split(',').map((name) => name.trim()),
    secrets: secretNames.flatMap((name) => env[name] || []),
  }
}
export type TestModeKeys = ReturnType<typeof testModeKeys>

function all<const N extends string>(env: Environment, names: readonly N[]): Record<N, string> | { missing: N[] } {
  const missing = names.filter((name) => !env[name])
  if (missing.length > 0) return { missing }
  return Object.fromEntries(names.map((name) => [name, env[name]!])) as Record<N, string>
}
