import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '#infra/local/wait'
import { layDeployment, type RehearsedDeployment, ready, says } from './deployment'
import type { Engine } from './engine'
import { eventsArrive, freshEventsSecret } from './external'
import { provideTools } from './images'
import { expecting, step } from './report'
import { changes, everyDay, firstPerson, restore } from './runbook-days'
import { blockOf, secretNames } from './runbook-text'
import type { ComposeStack } from './stack'

// Runs the shell blocks of the runbook, from an empty env file to a restore.

export async function rehearseRunbook(engine: Engine, stack: ComposeStack): Promise<void> {
  const made = await layDeployment(engine, stack)
  await using _outside = made.outside
  try {
    await fromNothing(engine, made)
    await firstPerson(made)
    await eventsByHttp(made)
    await changes(made)
    await everyDay(made)
    await restore(made)
  } finally {
    await made.shell('dc --profile tools down -v')
  }
}

async function fromNothing(engine: Engine, made: RehearsedDeployment): Promise<void> {
  const { infra, shell, env, adminKey } = made
  await step('runbook: settings names all that is missing at once', async () => {
    const whole = new Map(env)
    for (const name of ['TREASURY_KEY', 'QUOTE_SECRETS', 'POSTGRES_PASSWORD']) env.set(name, '')
    env.set('BANK_DETAILS_KEYS', 'local-only:filZMp8N7pU5mq8urpCsKeOXj1tFsvi4N0zB1au7T7A=')
    const { code, text } = await shell('dc config --quiet\ndc run --rm --build settings')
    for (const [name, value] of whole) env.set(name, value)
    expecting(code !== 0, 'it is content')
    const named = ['TREASURY_KEY', 'QUOTE_SECRETS', 'POSTGRES_PASSWORD', 'BANK_DETAILS_KEYS']
    for (const name of named) expecting(text.includes(name), `${name} is not named: ${text}`)
    return `${named.join(', ')}`
  })
  await step(
    'runbook: contracts are deployed',
    async () => {
      const lines = blockOf('contracts')
        .replace(/^read -rs ADMIN_KEY && /m, '')
        .split('\n')
      const [key = '', dry = '', ...rest] = lines
      const first = await shell(`${key}\n${dry}`, { ADMIN_KEY: adminKey })
      expecting(
        first.text.includes('planned steps, not sent'),
        `the dry run lists no planned steps: ${first.text.slice(-1_500)}`,
      )
      const text = await says(shell(`${key}\n${rest.join('\n')}`, { ADMIN_KEY: adminKey }), /complete/)
      for (const [, name = '', value = ''] of text.matchAll(/^\s*([A-Z_]+)=(\S+)$/gm)) env.set(name, value)
      await says(shell(`${key}\n${rest[0]}`, { ADMIN_KEY: adminKey }), /complete: nothing is missing/)
      return `credit line ${env.get('CREDIT_LINE_ADDRESS')}, a second run sends nothing`
    },
    { vital: true },
  )
  await step('runbook: secrets as files', async () => {
    const before = new Map(env)
    const withFiles = blockOf('secretFiles')
    await says(
      shell(`${blockOf('keys')}\ninstall -d -m 0700 -o 1000 secrets`),
      /^0x[0-9a-f]{64}\nk1:\S{44}\n[0-9a-f]{48}\n/,
    )
    env.set('SECRETS_DIR', fillSecrets(join(infra, 'secrets'), env))
    const started = await shell(`${withFiles}\ndc config --quiet\ndc up -d --build`)
    const well = started.code === 0 && (await ready().then(() => true))
    const shown = await shell(`${withFiles}\ndc config`)
    await shell(`${withFiles}\ndc down -v`)
    for (const [name, value] of before) env.set(name, value)
    expecting(well, started.text.slice(-2_000))
    expecting(!shown.text.includes(before.get('TREASURY_KEY')!), 'a key is shown')
    return 'everything starts, and no secret is in the configuration'
  })
  await step(
    'runbook: start',
    async () => {
      await provideTools(engine, env.get('IMAGE_TAG')!)
      const started = await shell(blockOf('start'))
      if (started.code !== 0) {
        const { text } = await shell('dc logs --no-log-prefix --tail 20 settings')
        expecting(false, `${started.text.slice(-500)}\n${text}`)
      }
      await ready()
      const text = await says(shell(blockOf('seen')), /"status":"ready"/, /payments/, /WEBHOOKS/)
      for (const name of ['gateway', 'operations', 'indexer-reader']) expecting(text.includes(name), name)
      const token = { TOKEN: env.get('PAYMENTS_CALLBACK_TOKENS_ID')! }
      await says(shell(`${blockOf('probe')}\n${blockOf('probe')}`, token), /recorded/, /duplicate/)
      await says(shell('bus stream subjects WEBHOOKS'), /webhooks\.payments\.ID\./)
      return 'ready, all figures there, a webhook is recorded once'
    },
    { vital: true },
  )
}

/** The sandbox refuses the first secret, so events arrive only if the services read a changed file. */
async function eventsByHttp({ infra, shell, env, events, controls }: RehearsedDeployment): Promise<void> {
  await step('runbook: events by HTTP, with another secret in its file', async () => {
    const before = new Map(env)
    const withFiles = blockOf('secretFiles')
    const unknown = freshEventsSecret()
    try {
      env.set('EVENTS_URL', events.EVENTS_URL).set('EVENTS_SECRETS', unknown)
      const dir = fillSecrets(join(infra, 'secrets'), env)
      env.set('SECRETS_DIR', dir)
      await says(shell(`${withFiles}\ndc up -d`))
      await ready()
      await waitUntil('a refused event', async () => (await controls.events()).some(({ status }) => status === 401))
      writeFileSync(join(dir, 'events_secrets'), `${events.EVENTS_SECRETS},${unknown}`)
      await says(shell(`${withFiles}\n${blockOf('changedFile')}`))
      await ready()
      return await eventsArrive(controls)
    } finally {
      env.clear()
      for (const [name, value] of before) env.set(name, value)
      await says(shell('dc up -d'))
      await ready()
    }
  })
}

/** Moves every secret of compose/secrets.yaml from the variables to a file. */
function fillSecrets(dir: string, env: Map<string, string>): string {
  for (const name of secretNames()) {
    const path = join(dir, name)
    writeFileSync(path, env.get(name.toUpperCase()) ?? '')
    const isPostgres = name === 'postgres_password'
    chmodSync(path, isPostgres ? 0o440 : 0o400)
    chownSync(path, 1000, isPostgres ? 70 : 1000)
    env.delete(name.toUpperCase())
  }
  return dir
}
