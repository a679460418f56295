import { isLoopback } from '#platform/config-fields'
import type { ProviderAccount } from '#shared/money/pair'
import { liveKeyPrefix, testKeyPrefix } from '#shared/provider/account-key'

/** Error about a key of another world, with which no call is made. */
export class WrongKey extends Error {
  override name = 'WrongKey'
}

const liveKey = (variable: string, begins: string) =>
  new WrongKey(
    `${variable} is not a test key: it must begin with ${begins}. Live accounts are called by --live-read-only alone`,
  )

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

/** Reads the keys. Throws `WrongKey` if one is not a test key. */
export function testModeKeys(env: Environment) {
  for (const [name, begins] of Object.entries(testKeys)) {
    const value = env[name]
    if (value && !value.startsWith(begins)) throw liveKey(name, begins)
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

const liveNames = { ID: 'XENDIT_ID_LIVE_KEY', MY: 'XENDIT_MY_LIVE_KEY' } as const

/**
 * Reads the live keys. Throws `WrongKey` for a key that is not live, unless `url` is a sandbox on this machine, which has test
 * keys alone.
 */
export function liveKeys(env: Environment, url: string) {
  const isSandbox = isLoopback(new URL(url).hostname)
  const wanted = isSandbox ? testKeyPrefix : liveKeyPrefix
  for (const name of Object.values(liveNames)) {
    const value = env[name]
    if (!value || value.startsWith(wanted)) continue
    throw new WrongKey(
      isSandbox
        ? `${name} must begin with ${wanted}: a sandbox gets no live key`
        : `${name} is not a live key: it must begin with ${wanted}`,
    )
  }
  const key = (account: ProviderAccount) => env[liveNames[account]] || null
  const keys = { ID: key('ID'), MY: key('MY') }
  return { keys, names: liveNames, secrets: Object.values(keys).filter((one) => one !== null) }
}

function all<const N extends string>(env: Environment, names: readonly N[]): Record<N, string> | { missing: N[] } {
  const missing = names.filter((name) => !env[name])
  if (missing.length > 0) return { missing }
  return Object.fromEntries(names.map((name) => [name, env[name]!])) as Record<N, string>
}
