import { parseArgs } from 'node:util'
import { operatorDatabaseUrl, operatorSecrets, withDatabase } from '#infra/operations/cli/connection'
import { localStack, operatorPlace, operatorRpcUrls } from '#infra/operations/place'
import { timeFrom } from '#infra/operations/timeline/search'
import { runCommand, type Say } from '#platform/command'
import { Misconfigured, readConfig, variableIn } from '#platform/config'
import { natsServers, text } from '#platform/config-fields'
import type { BusPlace } from './bus'
import { changeOf, decide, mustStop, tell } from './decide'
import { readErased } from './erased'
import { readKnown } from './known'
import { putBack } from './put-back'

const usage = `usage: bun infra/operations/restore/main.ts --since <time of the backup> [--apply]
         [--accept <tx hash>]... [--checkout <ps-…>]... [--give-back <tx hash>]...
         [--hold <payout id>]... [--erased <wallet>@<time>]...

Lists payments, cash-outs and transactions since the backup that the restored rows lack, and restores
them with --apply. Stop the services first: while chain-relayer runs, only payments are restored.
Exits 0 if no decision is left.`

const fields = {
  NATS_URL: natsServers({ about: 'URLs of nats-server' }),
  NATS_PASSWORD_ADMIN: text({ about: 'password of the NATS user admin', secret: true }),
}

/** Returns NATS of the running local stack, or of the deployment if RPC_URL or RPC_URLS is set. */
export function busPlace(env: NodeJS.ProcessEnv): BusPlace {
  if (operatorRpcUrls(env)) {
    const { natsUrl: url, natsPasswordAdmin: password } = readConfig('restore', fields, env)
    return { url, password }
  }
  const { nats } = localStack(env)
  return { url: nats.url, password: nats.admin.password }
}

async function restore({ asked, apply }: ReturnType<typeof askedBy>, say: Say): Promise<0 | 1> {
  const database = operatorDatabaseUrl()
  const known = await withDatabase(database, readKnown)
  const sources = { place: operatorPlace(), bus: busPlace(process.env) }
  const decision = await decide(sources, known, asked)
  say(tell(decision).join('\n'))
  const { undecided, unexplained } = decision
  const code = undecided.length === 0 ? 0 : 1
  if (!apply) {
    say(code === 0 ? 'nothing to decide: add --apply' : 'nothing was changed')
    return code
  }
  if (undecided.includes(mustStop)) throw new Error(`${mustStop}; nothing was changed`)
  if (unexplained.length > 0) throw new Error('a lane sent unexplained transactions; nothing was changed')
  const identityProvider = variableIn(process.env, 'IDENTITY_PROVIDER') ?? known.identityProvider ?? 'sumsub'
  await withDatabase(database, (sql) => putBack(sql, changeOf(decision, asked, identityProvider)))
  say(code === 0 ? 'restored' : 'restored; some items still need a decision')
  return code
}

/** Reads the arguments. Throws `Misconfigured` with the usage. */
export function askedBy(args: readonly string[]) {
  const many = { type: 'string', multiple: true, default: [] as string[] } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        since: { type: 'string' },
        apply: { type: 'boolean', default: false },
        accept: many,
        checkout: many,
        'give-back': many,
        hold: many,
        erased: many,
      },
    })
    const { apply, accept, checkout: checkouts, 'give-back': giveBack, hold } = values
    // The file `backup_label` has `2026-11-22 01:00:00 UTC`.
    const since = timeFrom((values.since ?? '').replace(/^(\S+) (\S+) UTC$/, '$1T$2Z'))
    if (!since) throw new Error('--since must be the time of the backup with its zone, such as 2026-11-22T01:00:00Z')
    if (since.getTime() > Date.now()) throw new Error('--since is in the future')
    const erased = readErased(values.erased)
    return { asked: { since, accept, checkouts, giveBack, hold, erased }, apply }
  } catch (error) {
    throw new Misconfigured(`${(error as Error).message}\n${usage}`)
  }
}

if (import.meta.main) {
  await runCommand(operatorSecrets, (say) => restore(askedBy(process.argv.slice(2)), say))
  process.exit()
}
