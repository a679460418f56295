import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'

// Stand-in for the NATS CLI, with the commands the runbook uses.

const words = process.argv.slice(2)
const [what = '', verb = '', name = ''] = words
const dir = join(process.env.XDG_CONFIG_HOME ?? '/tmp', 'nats')
const flag = (wanted: string) => words[words.indexOf(`--${wanted}`) + 1]

type Saved = { url: string; user: string; password: string }

function saveContext() {
  mkdirSync(join(dir, 'context'), { recursive: true })
  const saved = { url: flag('server'), user: flag('user'), password: flag('password') }
  writeFileSync(join(dir, 'context', `${name}.json`), JSON.stringify(saved), { mode: 0o600 })
  writeFileSync(join(dir, 'context.txt'), name)
  console.log(`NATS Configuration Context "${name}"`)
}

function selected(): Saved {
  const current = readFileSync(join(dir, 'context.txt'), 'utf8')
  return JSON.parse(readFileSync(join(dir, 'context', `${current}.json`), 'utf8')) as Saved
}

async function micro(nc: NatsConnection) {
  const client = nc.services.client({ strategy: 'timer', maxWait: 1_500 } as never)
  if (verb === 'stats') for await (const one of await client.stats(name)) console.log(one)
  else for await (const one of await client.info()) console.log(`${one.name} ${one.version} ${one.id}`)
}

async function streams(nc: NatsConnection) {
  const manager = await nc.jetstreamManager()
  if (verb === 'subjects') {
    const { state } = await manager.streams.info(name, { subjects_filter: '>' })
    for (const [subject, count] of Object.entries(state.subjects ?? {})) console.log(subject, count)
    return
  }
  if (verb === 'get') {
    const found = await manager.streams.getMessage(name, {
      last_by_subj: words[words.indexOf('-S') + 1]!,
    })
    console.log(found.subject, found.seq, found.time.toISOString())
    console.log(new TextDecoder().decode(found.data))
    return
  }
  for await (const { config, state } of manager.streams.list())
    console.log(config.name, 'messages', state.messages, 'consumers', state.consumer_count)
}

async function consumers(nc: NatsConnection) {
  const manager = await nc.jetstreamManager()
  for await (const one of manager.consumers.list(name))
    console.log(one.name, 'pending', one.num_pending, 'unacked', one.num_ack_pending)
}

async function values(nc: NatsConnection) {
  const bucket = await nc.jetstream().views.kv(name, { bindOnly: true })
  const [, , , key = '', value = ''] = words
  if (verb === 'put') console.log(await bucket.put(key, value))
  else console.log((await bucket.get(key))?.string())
}

if (what === 'context') saveContext()
else {
  const { url, user, password } = selected()
  const nc = await connect({
    servers: url,
    user,
    pass: password,
    timeout: 3_000,
    inboxPrefix: `_INBOX_${user}`,
  })
  if (what === 'micro') await micro(nc)
  else if (what === 'stream') await streams(nc)
  else if (what === 'kv') await values(nc)
  else if (what === 'consumer') await consumers(nc)
  else throw new Error(`${what} is not a command of this stand-in`)
  await nc.close()
}
