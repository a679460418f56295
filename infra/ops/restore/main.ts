import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { repositoryDir } from '#infra/local/folders'
import { readStackFile } from '#infra/local/stack-file'
import { operatorPlace } from '#infra/ops/place'
import { operatorDatabaseUrl, withDatabase } from '#infra/ops/stack'
import { readConfig } from '#shared/config'
import { integer, natsServers, text, url } from '#shared/config-fields'
import { type Asked, changeOf, decide, mustStop, type Places, tell } from './decide'
import { readKnown } from './known'
import { putBack } from './put-back'

const usage = `usage: bun infra/ops/restore/main.ts --since <time of the backup> [--apply]
         [--accept <tx hash>]... [--checkout <ps-…>]... [--give-back <tx hash>]...

Says what happened since the backup that the restored rows do not know, and with --apply writes it
down again. Stop the services first: while chain-relayer runs, it looks at payments alone.
Exits 0 when nothing is left to decide.`

/** What it is told besides the place of the chain, when no local stack is meant. */
const fields = {
  NATS_URL: natsServers({ about: 'where nats-server listens' }),
  NATS_PASSWORD_ADMIN: text({ about: 'password of the NATS user admin', secret: true }),
  PROVIDER_URL: url({ about: 'the API of the provider', fallback: 'https://api.xendit.co' }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({ about: 'calls per endpoint', fallback: '60' }),
}

/** Where the bus and the provider are: of the running local stack; or, with RPC_URL set, as told. */
function otherPlaces(env: NodeJS.ProcessEnv): Pick<Places, 'bus' | 'provider'> {
  if (env.RPC_URL) {
    const config = readConfig('restore', fields)
    const { natsUrl, natsPasswordAdmin, providerUrl, providerRequestsPerMinute } = config
    const keys = { ID: config.providerIdSecretKey, MY: config.providerMySecretKey }
    const provider = { url: providerUrl, requestsPerMinute: providerRequestsPerMinute, keys }
    return { bus: { url: natsUrl, password: natsPasswordAdmin }, provider }
  }
  const local = readStackFile(env.LOCAL_DIR ?? join(repositoryDir, '.local'))
  const keys = { ID: local.provider.ID.secretKey, MY: local.provider.MY.secretKey }
  return {
    bus: { url: local.nats.url, password: local.nats.admin.password },
    provider: { url: local.sandbox, requestsPerMinute: 60_000, keys },
  }
}

/** Reads everything, tells, and writes it down when asked to. True: nothing is undecided. */
async function restore(asked: Asked, apply: boolean): Promise<boolean> {
  const database = operatorDatabaseUrl()
  const known = await withDatabase(database, readKnown)
  const places = { chain: operatorPlace(), ...otherPlaces(process.env) }
  const decision = await decide(places, known, asked)
  console.log(tell(decision).join('\n'))
  const { undecided, unexplained } = decision
  if (!apply) {
    console.log(undecided.length === 0 ? 'nothing to decide: add --apply' : 'nothing was changed')
    return undecided.length === 0
  }
  if (undecided.includes(mustStop)) throw new Error(`${mustStop}: nothing was changed`)
  if (unexplained.length > 0)
    throw new Error('a lane sent what nobody can explain: nothing was changed')
  const identityProvider = process.env.IDENTITY_PROVIDER ?? known.identityProvider ?? 'sumsub'
  await withDatabase(database, (sql) =>
    putBack(sql, changeOf(decision, asked.since, identityProvider)),
  )
  console.log(undecided.length === 0 ? 'put back' : 'put back, but for what is to decide')
  return undecided.length === 0
}

if (import.meta.main) {
  const many = { type: 'string', multiple: true, default: [] as string[] } as const
  const { values } = parseArgs({
    options: {
      since: { type: 'string' },
      apply: { type: 'boolean', default: false },
      ...{ accept: many, checkout: many, 'give-back': many },
    },
  })
  const since = new Date(values.since ?? '')
  if (Number.isNaN(since.getTime())) {
    console.error(usage)
    process.exit(2)
  }
  const { apply, accept, checkout: checkouts, 'give-back': giveBack } = values
  const done = await restore({ since, accept, checkouts, giveBack }, apply).catch(
    (error: Error) => {
      console.error(error.message)
      return false
    },
  )
  process.exit(done ? 0 : 1)
}
