import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { waitUntil } from '#infra/local/wait'
import { hex, type RehearsedDeployment, ready, says } from './deployment'
import { expecting, step } from './report'
import { blockOf } from './runbook-text'

const commandsOfADay: readonly string[] = [
  'bus kv get rates accepted.usd-idr --raw',
  `curl -s -X POST $PUBLIC_URL/quote -H 'Content-Type: application/json' -d '{"pair":"USD/IDR"}'`,
  'bus kv put rates release.usd-idr <date>',
  'oper infra/operations/cli/main.ts rates release usd-idr <date> --reason rehearsal --by rehearsal',
  'bus kv get rates seen.<source>.<pair> --raw',
  'dc logs --tail 3 chain-relayer',
  'bus stream get EVENTS -S relay.credit.settled',
  'curl -s $PUBLIC_URL/verify/<wallet>',
  'bus micro stats pricing --json',
  'bus consumer report COMMANDS',
  'bus stream report',
  'bus stream subjects <stream>',
  'look metrics',
  'dc logs payments',
  'dc logs payouts',
  'dc logs pricing',
  'dc logs chain-relayer',
  'oper infra/operations/cli/main.ts in-flight',
  'oper infra/operations/cli/main.ts status',
  'oper infra/operations/cli/main.ts dead-letters list',
  'oper infra/operations/cli/main.ts wallets list',
  'oper infra/operations/cli/main.ts review list',
  'oper infra/operations/cli/main.ts unexplained list',
  'oper infra/operations/cli/main.ts reconcile',
  'oper infra/operations/cli/main.ts find --from 2026-11-24T02:00Z',
  'oper infra/operations/cli/main.ts report --day <date> --csv',
  'oper infra/operations/cli/main.ts accounts list',
  'oper infra/operations/cli/main.ts persons list',
  'oper infra/operations/cli/main.ts commands',
  'oper infra/operations/cli/main.ts access',
  'dc exec indexer-reader bun services/indexer-reader/rebuild.ts',
  'dc run --rm provision',
  'dc run --rm migrate',
  'dc up -d nats',
  'dc up -d --build',
  'dc up -d --scale payments=2',
]

const wallets: string[] = []
const filled = (command: string): string =>
  command
    .replace('<date>', '2026-01-01')
    .replace('<source>.<pair>', 'fixed.usd-idr')
    .replace('<wallet>', wallets[0] ?? '')
    .replace('<stream>', 'EVENTS')

const operator = (backup = 'none', since = 'none') =>
  blockOf('operator').replace(/^BACKUP=.*$/m, `BACKUP=${backup}; T=${since}`)

export async function firstPerson({ dir, shell, controls }: RehearsedDeployment): Promise<void> {
  await step('runbook: first user, first top-up', async () => {
    const block = blockOf('firstUser')
    const walletKey = generatePrivateKey()
    wallets[0] = privateKeyToAddress(walletKey)
    const [head = '', lines = ''] = block.replace('0x…', walletKey).trim().split(/\n\n/)
    const script = (text: string) => shell(`cd ${dir}\nbun() { ${process.execPath} "$@"; }\n${head}\n${text}`)
    const [me = '', verification = '', subjects = '', , quote = '', topup = ''] = lines.split('\n')
    await says(script(me), /"verified":false/)
    await says(script(verification), /"url"/)
    await controls.identity(wallets[0], 'approved')
    await says(script(subjects), /webhooks\.identity\.sumsub/)
    await waitUntil('the verdict', async () => /"verified":true/.test((await script(me)).text), 30_000, 500)
    const text = await says(script(`${quote}\n${topup}`), /"checkoutUrl"/)
    const [, paymentId = ''] = /"paymentId":"([^"]+)"/.exec(text) ?? []
    await controls.pay(paymentId, 'QRIS')
    const activity = lines.split('\n').at(-2) ?? ''
    await waitUntil('the credit', async () => /"credited"/.test((await script(activity)).text), 30_000, 500)
    await says(script(lines.split('\n').at(-1) ?? ''), /"collateral"/)
    return `${paymentId} is credited`
  })
}

export async function changes({ shell, env }: RehearsedDeployment): Promise<void> {
  const up = async (what: string, change: () => Promise<unknown> | unknown, seen?: () => Promise<unknown>) =>
    step(`runbook: another ${what}`, async () => {
      await change()
      await says(shell('dc up -d'))
      await ready()
      await seen?.()
      return 'up, and ready'
    })
  const probe = (token: string, id: string) => async () => {
    await says(shell(blockOf('probe').replace('probe-1', id), { TOKEN: token }), /recorded/)
  }
  const token = hex()
  await up(
    'callback token',
    () => env.set('PAYMENTS_CALLBACK_TOKENS_ID', `${env.get('PAYMENTS_CALLBACK_TOKENS_ID')},${token}`),
    probe(token, 'probe-2'),
  )
  await up('password of NATS and of a role of Postgres', () => {
    env.set('NATS_PASSWORD_PAYMENTS', hex()).set('DATABASE_PASSWORD_PAYMENTS', hex())
  })
  await up('password of Postgres, secret of quotes and key of bank details', async () => {
    const password = hex()
    const command = `dc exec postgres psql -U postgres -c "alter role postgres password '…'"`
    await says(shell(command.replace('…', password)), /ALTER ROLE/)
    env.set('POSTGRES_PASSWORD', password)
    env.set('QUOTE_SECRETS', `${env.get('QUOTE_SECRETS')},${hex()}`)
    const key = crypto.getRandomValues(new Uint8Array(32)).toBase64()
    env.set('BANK_DETAILS_KEYS', `k2:${key},${env.get('BANK_DETAILS_KEYS')}`)
  })
}

export async function everyDay({ shell }: RehearsedDeployment): Promise<void> {
  await step('runbook: the commands of a day', async () => {
    const wrong: string[] = []
    for (const command of commandsOfADay) {
      const { code, text } = await shell(`${operator()}\n${filled(command)}`)
      if (code !== 0) wrong.push(`${command}: exit ${code} ${text.slice(-600)}`)
    }
    await ready()
    expecting(wrong.length === 0, wrong.join('\n'))
    return `${commandsOfADay.length} commands`
  })
}

export async function restore({ shell }: RehearsedDeployment): Promise<void> {
  await step('runbook: restore', async () => {
    await says(shell(`${operator()}\n${blockOf('backup')}`))
    const { text: name } = await shell('ls -t base-*.tar | head -1')
    const since = /base-(.*)\.tar/.exec(name)?.[1] ?? ''
    const inShell = (lines: string) => shell(`${operator(name.trim(), since)}\n${lines}`)
    await says(inShell('dc stop gateway pricing payments payouts chain-relayer indexer-reader operations'))
    const { text: running } = await inShell('dc ps')
    expecting(!/payments|operations/.test(running), `something still writes: ${running}`)
    await says(inShell(`tar --force-local -xOf "$BACKUP" backup_label | grep 'START TIME'`), /START TIME/)
    await says(inShell(blockOf('restoreFiles')))
    await waitUntil(
      'Postgres',
      async () => /ready to accept connections/.test((await inShell('dc logs --tail 20 postgres')).text),
      30_000,
      500,
    )
    await says(inShell('dc up -d nats\ndc run --rm provision'), /up to date/)
    await says(inShell('dc run --rm migrate'))
    await says(inShell('oper infra/operations/restore/main.ts --since "$T"'), /nothing to decide/)
    await says(inShell('oper infra/operations/restore/main.ts --since "$T" --apply'), /restored/)
    await says(inShell('dc up -d'))
    await ready()
    await waitUntil(
      'the books balancing',
      async () => /the books balance/.test((await inShell('oper infra/operations/cli/main.ts reconcile')).text),
      60_000,
      1_000,
    )
    await says(inShell('oper infra/operations/restore/main.ts --since "$T" --apply'), /restored/)
    return `restored to ${since}, and the books balance`
  })
}
