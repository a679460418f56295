import { passwordVariable } from '#infra/nats/server-environment'
import { busUsers } from '#shared/messages/topic'
import type { Row } from './rows'

const row = (name: string, about: string, more: Partial<Row> = {}): Row => ({
  name,
  type: 'text',
  fallback: undefined,
  secret: false,
  about,
  readers: ['compose'],
  ...more,
})

/** Variables that only compose.yaml reads from the env file. */
export const composeVariables: readonly Row[] = [
  row('STACK', 'name of the deployment, prefix of its containers and volumes'),
  row('IMAGE_TAG', 'tag of the built image', { fallback: 'local' }),
  row('GATEWAY_PORT', 'host port of the gateway', {
    type: 'integer',
    fallback: '3000',
  }),
  row('SANDBOX_PORT', 'host port of the sandbox, with compose/local.yaml', {
    type: 'integer',
    fallback: '3100',
  }),
  row('CHAIN_PORT', 'host port of the chain, with compose/local.yaml', {
    type: 'integer',
    fallback: '8545',
  }),
  row('SECRETS_DIR', 'folder with the secret files, with compose/secrets.yaml', { fallback: '' }),
  row('ALERTS_TO', 'receiver of alerts, an e-mail or https address; only `ops doctor` asks for it', {
    fallback: 'none',
  }),
  row('BACKUPS_TO', 'place of the backups, on another machine; only `ops doctor` asks for it', { fallback: 'none' }),
  row('POSTGRES_PASSWORD', 'Postgres password of the table owner', {
    secret: true,
  }),
  row('NATS_STORE_KEY', 'key that encrypts the streams of NATS on disk; without it they are lost', {
    secret: true,
  }),
  ...busUsers.map((name) => row(passwordVariable(name), 'NATS password', { secret: true })),
  row('DEPLOY_AUSD_ADDRESS', 'AUSD_ADDRESS of the deploy job; empty: the real AUSD', {
    fallback: '',
  }),
  row('DEPLOY_CREDIT_LINE_ADDRESS', 'CREDIT_LINE_ADDRESS of the deploy job; empty: a new one', {
    fallback: '',
  }),
]
