import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { localVariables } from '#infra/compose/composition'
import { repositoryDir } from '#infra/local/folders'
import { devWallets } from '#infra/local/keys'
import { type StackFile, stackFilePath, writeStackFile } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'
import { readWords } from '#infra/local/words'

/**
 * NATS, Postgres and the operators' listener are not published; their addresses work only inside
 * the network.
 */
export function composeStackFile(env: NodeJS.ProcessEnv = process.env): StackFile {
  const variables = { ...localVariables(), ...env }
  const of = (name: string) => variables[name] ?? ''
  const on = (name: string, port: string) => `http://127.0.0.1:${variables[name] || port}`
  return {
    gateway: on('GATEWAY_PORT', '3000'),
    ops: {
      gateway: 'http://gateway:3001',
      console: `http://gateway:3001/#token=${of('CONSOLE_TOKEN')}`,
      databaseUrl: `postgres://ops:${of('DATABASE_PASSWORD_OPS')}@postgres:5432/postgres`,
      natsPassword: of('NATS_PASSWORD_OPS'),
    },
    sandbox: on('SANDBOX_PORT', '3100'),
    nats: {
      url: 'nats://nats:4222',
      admin: { user: 'admin', password: of('NATS_PASSWORD_ADMIN') },
      integrator: { user: 'integrator', password: of('NATS_PASSWORD_INTEGRATOR') },
      monitor: 'http://127.0.0.1:8222',
    },
    postgres: { url: `postgres://postgres:${of('POSTGRES_PASSWORD')}@postgres:5432/postgres` },
    chain: {
      rpcUrl: on('CHAIN_PORT', '8545'),
      chainId: Number(of('CHAIN_ID')),
      ausd: of('AUSD_ADDRESS'),
      creditLine: of('CREDIT_LINE_ADDRESS'),
      treasury: of('TREASURY_ADDRESS'),
    },
    webhooks: {
      payments: { ID: of('PAYMENTS_CALLBACK_TOKENS_ID'), MY: of('PAYMENTS_CALLBACK_TOKENS_MY') },
      identity: { secret: of('IDENTITY_WEBHOOK_SECRETS') },
    },
    provider: {
      ID: { secretKey: of('PROVIDER_ID_SECRET_KEY') },
      MY: { secretKey: of('PROVIDER_MY_SECRET_KEY') },
    },
    accounts: devWallets(10),
    services: {},
  }
}

const usage = `usage: ${bunRun} stack-file
Writes the addresses and keys of a running compose stack to stack.json in LOCAL_DIR (default .local/compose), for demo
and other commands. It reads infra/.env, and ports from the environment.`

if (import.meta.main) {
  readWords(usage, {})
  const dir = process.env.LOCAL_DIR ?? join(repositoryDir, '.local/compose')
  mkdirSync(dir, { recursive: true })
  writeStackFile(dir, composeStackFile())
  console.log(stackFilePath(dir))
}
