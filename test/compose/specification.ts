import { Type } from 'typebox'

/**
 * The part of the Compose Specification in use (github.com/compose-spec/compose-spec, schema/compose-spec.json, June
 * 2026). A key that is not listed is a mistake.
 */
const closed = { additionalProperties: false }
const words = Type.Array(Type.String(), { minItems: 1 })
const duration = Type.String({ pattern: '^[0-9]+(ms|s|m)$' })
const named = <T extends import('typebox').TSchema>(of: T) =>
  Type.Record(Type.String({ pattern: '^[a-zA-Z0-9._-]+$' }), of)
const maybe = Type.Optional

const dependency = Type.Object(
  {
    condition: Type.Union([
      Type.Literal('service_started'),
      Type.Literal('service_healthy'),
      Type.Literal('service_completed_successfully'),
    ]),
    required: maybe(Type.Boolean()),
  },
  closed,
)

const healthcheck = Type.Object(
  {
    test: words,
    interval: duration,
    timeout: duration,
    retries: Type.Integer(),
    start_period: duration,
    start_interval: duration,
  },
  closed,
)

const part = {
  image: Type.String(),
  pull_policy: Type.Literal('never'),
  build: Type.Object({ context: Type.String(), dockerfile: Type.String(), target: maybe(Type.String()) }, closed),
  profiles: words,
  scale: Type.Integer(),
  user: Type.String(),
  init: Type.Boolean(),
  read_only: Type.Boolean(),
  tmpfs: words,
  cap_drop: words,
  cap_add: words,
  security_opt: words,
  logging: Type.Object({ driver: Type.String(), options: named(Type.String()) }, closed),
  restart: Type.String({ pattern: '^(no|unless-stopped)$' }),
  stop_signal: Type.String(),
  stop_grace_period: duration,
  shm_size: Type.String(),
  mem_limit: Type.String({ pattern: '^[0-9]+[mg]$' }),
  memswap_limit: Type.String({ pattern: '^[0-9]+[mg]$' }),
  cpus: Type.Number(),
  pids_limit: Type.Integer(),
  network_mode: Type.String(),
  networks: words,
  ports: words,
  volumes: words,
  secrets: words,
  entrypoint: words,
  command: words,
  environment: named(Type.Union([Type.String(), Type.Null()])),
  healthcheck,
  depends_on: named(dependency),
}

export const composeFile = Type.Object(
  {
    name: maybe(Type.String()),
    services: named(Type.Partial(Type.Object(part), closed)),
    networks: maybe(named(Type.Object({ internal: maybe(Type.Boolean()) }, closed))),
    volumes: maybe(named(Type.Object({}, closed))),
    secrets: maybe(named(Type.Object({ file: Type.String() }, closed))),
  },
  { additionalProperties: false, patternProperties: { '^x-': {} } },
)
