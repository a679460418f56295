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

/** What compose.yaml itself takes from the env file; the processes do not read these. */
export const composeVariables: readonly Row[] = [
  row('STACK', 'name of the deployment: its containers and volumes carry it'),
  row('IMAGE_TAG', 'tag of the image that is built', { fallback: 'local' }),
  row('GATEWAY_PORT', 'port of this machine that leads to the gateway', {
    type: 'integer',
    fallback: '3000',
  }),
  row('SANDBOX_PORT', 'the same for the sandbox, with compose/local.yaml', {
    type: 'integer',
    fallback: '3100',
  }),
  row('CHAIN_PORT', 'the same for the chain, with compose/local.yaml', {
    type: 'integer',
    fallback: '8545',
  }),
  row('SECRETS_DIR', 'folder of the secrets, with compose/secrets.yaml', { fallback: '' }),
  row('POSTGRES_PASSWORD', 'password of the owner of all tables; letters and digits', {
    secret: true,
  }),
  ...busUsers.map((name) =>
    row(passwordVariable(name), `password of the NATS user ${name}; letters and digits`, {
      secret: true,
    }),
  ),
  row('DEPLOY_AUSD_ADDRESS', 'AUSD_ADDRESS as deploy gets it: empty for the real one', {
    fallback: '',
  }),
  row('DEPLOY_CREDIT_LINE_ADDRESS', 'CREDIT_LINE_ADDRESS as deploy gets it: empty to deploy', {
    fallback: '',
  }),
]
