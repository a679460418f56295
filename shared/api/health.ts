import { Type } from 'typebox'
import { route } from '#shared/api/route'

const Status = Type.Object(
  {
    status: Type.Enum(['alive', 'ready'], {
      description: '`alive`: the process runs. `ready`: its dependencies respond as well.',
    }),
  },
  { title: 'Health', description: 'Health of this instance; any failure has another status.' },
)

export const GetHealth = route({
  method: 'GET',
  path: '/health',
  access: 'probe',
  tag: 'operations',
  summary: 'Liveness: the process runs',
  body: null,
  answer: Status,
  returns: 'Alive.',
  example: { answer: { status: 'alive' } },
})

export const GetReady = route({
  method: 'GET',
  path: '/ready',
  access: 'probe',
  tag: 'operations',
  summary: 'Readiness: Postgres takes writes, NATS and all six services respond',
  body: null,
  answer: Status,
  returns: 'Ready within the last 5 seconds, and this instance is not shutting down.',
  example: { answer: { status: 'ready' } },
  errors: [503],
})
