import type { Guard } from './race'

// These are mutations of statements, each of which must make an order go wrong.

const advisory = /pg_advisory_xact_lock\((hashtextextended\((?:[^()]|\([^()]*\))*\))\)/g

/** Locks by which one transaction decides at a time. */
export const locks: Guard = {
  name: 'the locks',
  without: (text) => text.replace(advisory, '$1').replace(/ for update$/, ''),
}

/** Combines guards, each of which is sufficient without the others. */
export const together = (...guards: readonly Guard[]): Guard => ({
  name: guards.map(({ name }) => name).join(', '),
  without: (text) => guards.reduce((edited, guard) => guard.without(edited), text),
  drop: guards.flatMap(({ drop }) => drop ?? [])[0],
})

export const states: Guard = {
  name: 'the state condition of an update',
  without: (text) =>
    text
      .replace(/"payments"\."payments"\."state" = (\$\d+)\) returning/, '$1::text is not null) returning')
      .replace(/ and "payouts"\."payouts"\."state" in \(([^)]*)\)/, (_, list: string) =>
        list
          .split(',')
          .map((value) => ` and ${value.trim()}::text is not null`)
          .join(''),
      ),
}

export const inbox: Guard = {
  name: 'the inbox',
  without: (text) =>
    text.replace(
      /insert into "payments"\."inbox" as held[\s\S]*?returning 1/,
      'select $1::text where $2::text is not null',
    ),
}

export const authorizations: Guard = {
  name: 'the check for another cash-out of the same transfer, and its unique key',
  without: (text) =>
    text.replace(/"payouts"\."authorization_nonce" = (\$\d+)/, `"payouts"."authorization_nonce" = $1 || '?'`),
  drop: 'drop index payouts.payouts_authorization',
}

export const takings: Guard = {
  name: 'the row of a taken quote',
  without: (text) =>
    text.replace(
      /insert into [^ ]*quotes_taken[\s\S]*returning id/,
      'select $1::uuid id where $2::text is not null and $3::timestamptz <= $4::timestamptz',
    ),
}

export const waiting: Guard = {
  name: 'the condition that only a waiting operation is assigned',
  without: (text) =>
    text.startsWith('update "chain_relayer"."operation" set "state"')
      ? text.replace(/"chain_relayer"\."operation"\."state" = (\$\d+)/, '$1::text is not null')
      : text,
}

export const verdicts: Guard = {
  name: 'the check for another verdict in progress',
  without: (text) =>
    text.startsWith('update "chain_relayer"."operation" set')
      ? text.replace(/other\.state = 'assigned'/, 'false')
      : text,
}

/** Lock that makes two verdicts assigned at once see each other. */
export const walletLocks: Guard = {
  name: 'the lock of the wallet',
  without: (text) => text.replace('pg_advisory_xact_lock(word)', 'word'),
}

export const leases: Guard = {
  name: 'the condition that the previous lease has expired',
  without: (text) => text.replace(/"leased_until" <= now\(\)/, '"leased_until" is not null'),
}

export const epochs: Guard = {
  name: 'the holder and the epoch of the lane',
  without: (text) =>
    text
      .replace(
        /"chain_relayer"\."lane"\."holder" = (\$\d+) and "chain_relayer"\."lane"\."epoch" = (\$\d+)/,
        '$1::text is not null and $2::bigint is not null',
      )
      .replace(/"leased_until" > now\(\)/, '"leased_until" is not null'),
}

/** Keys of operations, whose ids are derived from their causes. */
export const onceByCause: Guard = {
  name: 'the unique keys of an operation',
  without: (text) => text,
  drop: `alter table chain_relayer.operation
    drop constraint operation_once, drop constraint operation_pkey`,
}

export const skips: Guard = {
  name: 'for update skip locked',
  without: (text) => text.replace(/for update skip locked/, ''),
}

/** Index that backs the wallet's lock. */
export const openSettlements: Guard = {
  name: 'the unique index of open settlements',
  without: (text) => text,
  drop: 'drop index payments.payments_open_settlement',
}
