import type { Sql } from 'postgres'

export type Paused = {
  readonly what: string
  readonly since: Date
  readonly by: string
  readonly reason: string
}

const schemas = ['payments', 'payouts', 'chain_relayer'] as const

/** Returns the paused services, longest paused first. */
export async function listPaused(sql: Sql): Promise<Paused[]> {
  const found = await Promise.all(
    schemas.map(
      (schema) => sql<Paused[]>`
        select what, since, set_by as by, reason from ${sql(schema)}.pauses where since is not null`,
    ),
  )
  return found.flat().toSorted((left, right) => left.since.getTime() - right.since.getTime())
}

export const pausedText = ({ what, since, by, reason }: Paused): string =>
  `${what} paused since ${since.toISOString()}, by ${by}: ${reason}`
